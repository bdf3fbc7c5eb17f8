"""The utilities of XDSL files: a table each, and additive nodes that weigh them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from juncture.errors import FormatError, InvalidModel
from juncture.factors.conditional import AnyConditional
from juncture.formats.rows import check_size
from juncture.formats.xml import Element, shorten
from juncture.formats.xml.networks import numbers_text, read_numbers, read_parents, words
from juncture.networks.decision_network import DecisionNetwork
from juncture.networks.decision_nodes import Decision, Utility
from juncture.variables import Variable

NAME = "juncture_name"
UTILITY, SUM = "utility", "mau"


def read_utilities(body: Element, variables: Mapping[str, Variable]) -> list[Utility]:
    """The utilities by their ids, each times its weight in an additive node."""
    found: dict[str, Utility] = {}
    for element in body.all(UTILITY):
        key = element.attribute("id")
        if key in found or key in variables:
            element.fail(f"has the id {shorten(key)}, which was given before")
        found[key] = read_utility(element, key, variables)
    weights = dict.fromkeys(found, 1.0)
    for element in body.all(SUM):
        weights.update(read_weights(element, found))
    return [part if weights[key] == 1.0 else scale(part, weights[key]) for key, part in found.items()]


def read_utility(element: Element, key: str, variables: Mapping[str, Variable]) -> Utility:
    ids = [word for parents in element.all("parents") for word in words(parents)]
    parents = read_parents(key, ids, variables, element)
    numbers = element.only("utilities")
    cells = check_size(parents.shape, len(numbers.leaf_text) // 2 + 1, f"the utility {shorten(key)}", line=element.line)
    own = {item.attributes.get("id", ""): item for item in element.all("property")}
    name = own[NAME].content if NAME in own else key
    try:
        return Utility(parents, read_numbers(numbers, cells).reshape(parents.shape), name=name)
    except InvalidModel as error:
        raise FormatError(str(error), line=element.line) from error


def read_weights(element: Element, utilities: Mapping[str, Utility]) -> dict[str, float]:
    """The weight of each utility in a sum; other combinations of utilities are refused."""
    ids = [word for parents in element.all("parents") for word in words(parents)]
    for key in ids:
        if key not in utilities:
            element.fail(f"combines {shorten(key)}, which is no utility; only weighted sums of utilities are read")
    if not element.all("weights"):
        element.fail("combines utilities by an expression; only weighted sums of utilities are read")
    return dict(zip(ids, read_numbers(element.only("weights"), len(ids)).tolist(), strict=True))


def scale(utility: Utility, weight: float) -> Utility:
    return Utility(utility.parents, weight * utility.values, name=utility.name)


def build_decision_network(
    parts: Sequence[AnyConditional | Decision], utilities: Sequence[Utility], element: Element
) -> DecisionNetwork:
    try:
        return DecisionNetwork([*parts, *utilities])
    except InvalidModel as error:
        raise FormatError(str(error), line=element.line) from error


def utility_numbers(utility: Utility) -> str:
    values = utility.values if utility.parents else utility.values.reshape(1)
    return numbers_text(values, "\n      ")
