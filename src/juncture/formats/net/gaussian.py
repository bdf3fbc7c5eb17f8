"""Continuous nodes of NET files: `data = ( normal ( 2 + 1.5 * C, 0.9 ) … );`, a mean and a variance for each row."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from juncture.factors.gaussian import LinearGaussian
from juncture.formats.blocks.families import Declared, Family
from juncture.formats.blocks.source import Source
from juncture.formats.linear import parse_linear
from juncture.variables import Scope

NORMAL = re.compile(r"normal\s*\(([^(),]*),([^(),]*)\)")


def read_gaussian(
    source: Source, data: str, offset: int, family: Family, declared: Mapping[str, Declared]
) -> LinearGaussian:
    """One `normal` for each configuration of the parents with states, the first parent changing slowest."""
    discrete = Scope(parent for parent in family.parents if not parent.is_real)
    real = [parent.name for parent in family.parents if parent.is_real]
    found, name = NORMAL.findall(data), repr(family.child.name)
    if NORMAL.sub("", data).strip("( \t\r\n)") or data.count("(") != data.count(")"):
        raise source.error(
            f"the data of {name} must be normal ( mean, variance ); found {source.excerpt(data)}", offset
        )
    if len(found) != discrete.size:
        raise source.error(f"the data of {name} need {discrete.size} normal ( … ), found {len(found)}", offset)
    with source.locate_errors(offset):
        rows = [read_normal(source, mean, variance, real, declared, offset) for mean, variance in found]
        numbers = np.array(rows).reshape(*discrete.shape, len(real) + 2)
        return LinearGaussian(family.child, family.parents, numbers[..., 2:], numbers[..., 0], numbers[..., 1])


def read_normal(
    source: Source, mean: str, variance: str, real: list[str], declared: Mapping[str, Declared], offset: int
) -> list[float]:
    """The intercept, the variance, and the coefficient of each real-valued parent."""
    try:
        linear, spread = parse_linear(mean), parse_linear(variance)
    except ValueError as error:
        raise source.error(f"the mean and variance {source.excerpt(f'{mean},{variance}')}: {error}", offset) from error
    known = {key: declared[key].variable.name for key in linear.coefficients if key in declared}
    wrong = next((key for key in linear.coefficients if known.get(key) not in real), None)
    if wrong is not None or spread.coefficients:
        what = "the variance" if wrong is None else source.excerpt(wrong)
        rule = "must be a number" if wrong is None else "is not a continuous parent of this node"
        raise source.error(f"{what} in {source.excerpt(f'normal ({mean},{variance})')} {rule}", offset)
    by_name = {known[key]: value for key, value in linear.coefficients.items()}
    return [linear.constant, spread.constant, *(by_name.get(parent, 0.0) for parent in real)]
