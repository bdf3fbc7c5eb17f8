"""`Message`: what a variable tells a factor, or a factor a variable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from juncture.errors import InvalidData, UnknownVariable
from juncture.factors.factor import Factor
from juncture.inference.messages.forest import Edge
from juncture.variables import Variable

LARGEST_LOG = 700.0  # beyond, exp leaves the range of doubles


@dataclass(frozen=True, eq=False, repr=False)
class Message:
    """A number for each state of the variable, kept as its logarithm: products of any length stay in range."""

    sender: str
    receiver: str
    variable: Variable
    log_values: np.ndarray  # (state,)

    @property
    def log_scale(self) -> float:
        """The largest of the logarithms."""
        return float(self.log_values.max())

    @property
    def is_in_range(self) -> bool:
        return bool(abs(self.log_scale) <= LARGEST_LOG or self.log_scale == -np.inf)

    @property
    def values(self) -> np.ndarray:
        """The numbers themselves, not normalised, as a textbook writes them."""
        if not self.is_in_range:
            raise InvalidData(
                f"the message from {self.sender!r} to {self.receiver!r} is of the size exp({self.log_scale:.6g}), "
                "which no double holds; read its `log_values`, or `normalized`"
            )
        return np.asarray(np.exp(self.log_values))

    @property
    def normalized(self) -> Factor:
        """The message divided by its sum."""
        if self.log_scale == -np.inf:
            return Factor([self.variable], np.zeros(self.variable.num_states)).normalize()  # refused, with words
        return Factor([self.variable], np.exp(self.log_values - self.log_scale)).normalize()

    def __repr__(self) -> str:
        scale = 0.0 if self.is_in_range else self.log_scale
        numbers = ", ".join(f"{number:.6g}" for number in np.exp(self.log_values - scale))
        return f"{self.sender} → {self.receiver}: {f'exp({scale:.6g}) · ' if scale else ''}[{numbers}]"


class MessagesByEdge(dict[Edge, Message]):
    """(sender, receiver) → message."""

    def __missing__(self, edge: object) -> Message:
        raise UnknownVariable(
            f"no message goes along {edge!r}; ask for (sender, receiver), a factor and one of its variables"
        )


def by_edge(messages: Iterable[Message]) -> MappingProxyType[Edge, Message]:
    return MappingProxyType(MessagesByEdge({(message.sender, message.receiver): message for message in messages}))
