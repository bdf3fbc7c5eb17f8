"""What the answers of all kinds of model share: how they were obtained, and the one variable that some speak of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from juncture.base.values import SameContent
from juncture.errors import UnknownVariable
from juncture.inference.engines.contract import Diagnostics


class Diagnosed(SameContent):
    """An answer that says by its diagnostics how far it can be trusted; equal to another by content."""

    diagnostics: Diagnostics

    @property
    def exact(self) -> bool:
        """Whether the answer is exact, but for rounding."""
        return self.diagnostics.exact

    @property
    def converged(self) -> bool:
        """Whether the algorithm reached its end by its own stopping rule."""
        return self.diagnostics.converged


class OneVariable(Diagnosed):
    """Beliefs about one variable of each row or step, asked by its name as those of a network are."""

    variable: ClassVar[str]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name == self.variable

    def __iter__(self) -> Iterator[str]:
        return iter((self.variable,))

    def _check_variable(self, name: object) -> None:
        if name not in self:
            raise UnknownVariable.among(name, [self.variable])
