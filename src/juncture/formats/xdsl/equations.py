"""Equations of XDSL files: `C = 2*A + Normal(1, 0.5)`, a linear function of the parents and Gaussian noise.

`Normal(mean, deviation)` has a standard deviation; several of them are independent, so that their variances add. The
bounds of a definition do not truncate the distribution, and are noted where they are finite.
"""

from __future__ import annotations

from collections.abc import Sequence

from juncture.errors import FormatError, InvalidModel
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.linear import Linear, parse_linear
from juncture.formats.rows import RowRepair
from juncture.formats.xml import Element, shorten
from juncture.variables import Scope, Variable


def read_equation(
    element: Element, child: Variable, ids: Sequence[str], parents: Scope, rows: RowRepair
) -> LinearGaussian:
    """The conditional of an <equation>; `ids` are what the equation calls its parents."""
    definition = element.only("definition")
    for parent in parents:
        if not parent.is_real:
            element.fail(f"has the parent {shorten(parent.name)} with states; only equations of equations are read")
    linear = read_linear(definition, element.attribute("id"))
    for name in linear.coefficients:
        if name not in ids:
            definition.fail(f"names {shorten(name)}, which is not among the <parents>")
    note_bounds(definition, child, rows)
    coefficients = [linear.coefficients.get(name, 0.0) for name in ids]
    try:
        variance = sum(spread * spread for spread in linear.spreads)
        return LinearGaussian(child, parents, coefficients, linear.constant, variance)
    except InvalidModel as error:
        raise FormatError(str(error), line=definition.line) from error


def read_linear(definition: Element, child: str) -> Linear:
    left, equals, right = definition.content.partition("=")
    if not equals or left.strip() != child:
        definition.fail(f"must be '{shorten(child, quoted=False)} = …'; found {shorten(definition.content)}")
    try:
        linear = parse_linear(right)
    except ValueError as error:
        definition.fail(f"holds {shorten(right)}, which is not read: {error}")
    if not linear.spreads:
        definition.fail(f"holds {shorten(right)}, which has no Normal(mean, deviation); only linear Gaussians are read")
    return linear


def note_bounds(definition: Element, child: Variable, rows: RowRepair) -> None:
    finite = [key for key in ("lower", "upper") if definition.attributes.get(key, "inf").lstrip("+-").lower() != "inf"]
    if finite:
        note = (
            f"the bounds of {shorten(child.name)} ({' and '.join(finite)}) are ignored: its Gaussian is not truncated"
        )
        rows.notes.append((note, UserWarning))
