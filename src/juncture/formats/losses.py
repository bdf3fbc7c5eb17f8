"""The part of a model that a text format can hold (tables, text labels), and a list of what is lost."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.errors import FormatError
from juncture.factors.conditional import AnyConditional, Conditional, HasTable, signature
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.decision_network import DecisionNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Variable

SHOWN = 5


def find_losses(model: Network | DecisionNetwork, kept: tuple[type, ...] = (Conditional,)) -> list[str]:
    """What a format that has only the `kept` kinds of conditional loses of this model: other kinds, ties and plates."""
    losses: list[str] = []
    compact = [signature(part) for part in getattr(model, "conditionals", ()) if not isinstance(part, kept)]
    if compact:
        losses.append(f"{shorten(compact)} {'is' if len(compact) == 1 else 'are'} written out as tables")
    ties = [" = ".join(group) for group in getattr(model, "tied", ())]
    if ties:
        losses.append(f"the ties {shorten(ties)} are dropped")
    plates = [label for label, _ in getattr(model, "plates", ())]
    if plates:
        losses.append(f"the plates {shorten(plates)} are dropped")
    return losses


def cut_losses(variables: Iterable[Variable]) -> list[str]:
    """Where a format has no place for the cuts of variables, what that means."""
    cut = [variable.name for variable in variables if variable.cuts is not None]
    lost = f"the cuts of {shorten(cut)} are dropped, so that numbers are no longer taken for them"
    return [lost] if cut else []


def as_tables(model: Network | DecisionNetwork, format_name: str) -> list[Conditional]:
    """Every conditional of a Bayesian network as a table; anything else is refused by name."""
    return [to_table(part, format_name) for part in as_bayesian_network(model, format_name).conditionals]


def as_bayesian_network(model: Network | DecisionNetwork, format_name: str) -> BayesianNetwork:
    if not isinstance(model, BayesianNetwork):
        others = ".uai, .fg or .json" if isinstance(model, FactorProduct) else ".json"
        others = ".net, .xdsl or .json" if isinstance(model, DecisionNetwork) else others
        kind = type(model).__name__
        raise FormatError(f"{format_name} holds Bayesian networks, not a {kind}; write it as {others}")
    return model


def to_table(conditional: AnyConditional, format_name: str) -> Conditional:
    real = any(variable.is_real for variable in (conditional.child, *conditional.parents))
    if real or not isinstance(conditional, HasTable):
        raise FormatError(f"{format_name} holds tables only, and {signature(conditional)} has none; write it as .json")
    return conditional.to_table()


def state_texts(variable: Variable, format_name: str) -> list[str]:
    """The states as text, which is how they come back; two that would become one are refused."""
    texts = [str(state) for state in variable.labels]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise FormatError(
            f"{format_name} keeps states as text, and {variable.name!r} has two states {twice!r}; rename one"
        )
    return texts


def shorten(items: list[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return ", ".join(items[:SHOWN]) + more
