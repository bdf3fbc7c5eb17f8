"""Models of energies far outside the range of doubles, and what they answer, weighed in decimals of fifty digits."""

from __future__ import annotations

import itertools
from decimal import Context, Decimal, localcontext

import numpy as np

import juncture as jt

DIGITS = Context(prec=50, Emin=-(10**9), Emax=10**9)
SCALES = (3.0, 300.0, 2000.0)


def random_energies(rng, scopes):
    """(scope, energies) for each scope, up to ±2000; some forbid a combination."""
    for scope in scopes:
        shape = tuple(variable.num_states for variable in scope)
        table = rng.uniform(-1, 1, shape) * rng.choice(SCALES)
        yield scope, np.where(rng.random(shape) < 0.1, np.inf, table)


def random_model(rng, *, is_tree=False, kind=jt.FactorGraph):
    """(the model, its energies) over two to four variables, in a chain or in any way."""
    variables = [jt.Variable(f"x{place}", int(rng.integers(2, 4))) for place in range(rng.integers(2, 5))]
    pairs = [list(pair) for pair in itertools.pairwise(variables)]
    singles = [[variables[place]] for place in rng.integers(len(variables), size=2)]
    triples = [] if is_tree else [[variables[0], variables[-1]], list(rng.permutation(np.array(variables)))[:3]]
    energies = list(random_energies(rng, [*pairs, *singles, *triples]))
    return kind(jt.MarkovNetwork.from_energies(energies).factors, variables), energies


def random_evidence(rng, model):
    """Hard evidence, likelihoods that span more than doubles do, or nothing, on each variable."""
    evidence = {}
    for variable in model.variables:
        match rng.integers(4):
            case 0:
                evidence[variable.name] = int(rng.integers(variable.num_states))
            case 1:
                evidence[variable.name] = (10.0 ** rng.uniform(-300, 300, variable.num_states)).tolist()
    return evidence


def weighed(model, energies, evidence=()):
    """(codes by name, weight) of every assignment, as decimals."""
    evidence = dict(evidence)
    with localcontext(DIGITS):
        return [
            (codes, weight_of(codes, energies, evidence))
            for codes in (
                dict(zip(model.variables.names, states, strict=True))
                for states in itertools.product(*(range(variable.num_states) for variable in model.variables))
            )
        ]


def weight_of(codes, energies, evidence):
    total, weight = Decimal(0), Decimal(1)
    for scope, table in energies:
        energy = table[tuple(codes[variable.name] for variable in scope)]
        if np.isinf(energy):
            return Decimal(0)
        total -= Decimal(float(energy))
    for name, value in evidence.items():
        weight *= Decimal(value[codes[name]]) if isinstance(value, list) else int(codes[name] == value)
    return weight * total.exp()


def log(weight):
    with localcontext(DIGITS):
        return float(weight.ln()) if weight else -np.inf


def total(rows):
    with localcontext(DIGITS):
        return sum((weight for _, weight in rows), Decimal(0))


def share(rows, *pairs):
    """p(name = code, …)."""
    with localcontext(DIGITS):
        chosen = [row for row in rows if all(row[0][name] == code for name, code in pairs)]
        return float(total(chosen) / total(rows))


def marginal(rows, variable):
    return [share(rows, (variable.name, code)) for code in range(variable.num_states)]
