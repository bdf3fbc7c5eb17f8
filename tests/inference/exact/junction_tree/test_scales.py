"""Messages are scaled by powers of two: exact, and no answer depends on which cells the scales were found from."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import juncture as jt


def chain_of(length, rng, least):
    """A chain of two states each, whose entries are multiples of 2^-10, the smallest `least` of them."""
    variables = [jt.Variable(f"x{step}", 2) for step in range(length)]
    parts = []
    for step, child in enumerate(variables):
        first = rng.integers(least, 1024 - least, size=(2,) * min(step, 1), endpoint=True) / 1024
        parts.append(jt.Conditional(child, variables[max(step - 1, 0) : step], np.stack([first, 1 - first], axis=-1)))
    return jt.BayesianNetwork(parts)


def exact_log(model, evidence):
    """Log p(evidence) of a chain by whole numbers and sixty digits."""
    weights = [Fraction(1)]
    for part in model.conditionals:
        table = np.atleast_2d(part.values)
        seen = evidence.get(part.child.name)
        weights = [
            sum(weight * Fraction(row[state]) for weight, row in zip(weights, table, strict=True))
            if seen in (None, state)
            else Fraction(0)
            for state in range(2)
        ]
    total = sum(weights)
    with localcontext() as context:
        context.prec = 60
        return (Decimal(total.numerator) / Decimal(total.denominator)).ln()


@pytest.mark.parametrize(("length", "least", "share"), [(40, 200, 0.5), (1_500, 1, 0.5), (1_500, 400, 0.02)])
def test_the_log_evidence_of_a_chain_is_right_to_the_last_digits(length, least, share):
    rng = np.random.default_rng(length)
    model = chain_of(length, rng, least)
    evidence = {name: int(rng.integers(2)) for name in model.variables.names if rng.random() < share}
    expected = exact_log(model, evidence)
    rows = jt.Dataset.from_codes(
        model.variables, {name: np.full(3, evidence.get(name, -1)) for name in model.variables.names}
    )
    for found in (jt.infer(model, evidence).log_evidence, *jt.infer(model, rows).log_evidence):
        assert abs(Decimal(float(found)) - expected) <= abs(expected) * Decimal(2) ** -50


def test_the_answers_of_a_row_do_not_depend_on_the_rows_beside_it():
    """The second row needs other scales than the first: it drives the tables to the edge of the doubles."""
    rng = np.random.default_rng(3)
    center = jt.Variable("c", 4)
    children = [jt.Variable(f"x{number}", 2) for number in range(120)]
    rare = 10.0 ** -rng.uniform(1, 4, size=(120, 4))
    parts = [
        jt.Conditional(child, [center], np.stack([rare[number], 1 - rare[number]], axis=1))
        for number, child in enumerate(children)
    ]
    model = jt.BayesianNetwork([jt.Conditional(center, [], [0.1, 0.2, 0.3, 0.4]), *parts])
    columns = {child.name: np.array([1, 0]) for child in children} | {"c": np.array([-1, -1])}
    both = jt.infer(model, jt.Dataset.from_codes(model.variables, columns), targets=["c"])
    for row in range(2):
        alone = {name: np.repeat(codes[row], 2) for name, codes in columns.items()}
        found = jt.infer(model, jt.Dataset.from_codes(model.variables, alone), targets=["c"])
        assert np.array_equal(both["c"].values[row], found["c"].values[0])
        assert both.log_evidence[row] == found.log_evidence[0]
