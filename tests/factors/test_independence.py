"""Independence in a joint table: its definitions, the rules that all tables keep, and XOR, which breaks others."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, UnknownVariable
from juncture.factors.factor import Factor, measure_dependence
from juncture.variables import Variable
from support.builders import joint_table, random_network

X, Y, Z = (Variable(name, 2) for name in "xyz")
XOR = Factor([X, Y, Z], [[[0.25, 0], [0, 0.25]], [[0, 0.25], [0.25, 0]]])
SEEDS = st.integers(0, 10_000)


def joint_of(model) -> Factor:
    return Factor(model.variables, joint_table(model))


def random_joint(seed: int) -> Factor:
    return joint_of(random_network(np.random.default_rng(seed), 4, max_states=3))


def by_definition(joint: Factor, a, b, given, *, tolerance=1e-9) -> bool:
    """p(a | b, c) = p(a | c) wherever p(b, c) > 0, cell by cell."""
    p = joint.normalize()
    scopes = [[p.scope.variable(name) for name in names] for names in (a, b, given)]

    def mass(*parts):
        return p.condition(dict(pair for part in parts for pair in part)).total

    for states in product(*(product(*(variable.labels for variable in scope)) for scope in scopes)):
        x, y, c = (list(zip(names, row, strict=True)) for names, row in zip((a, b, given), states, strict=True))
        if mass(y, c) > 0 and abs(mass(x, y, c) / mass(y, c) - mass(x, c) / mass(c)) > tolerance:
            return False
    return True


@forall(SEEDS)
def test_the_two_definitions_agree(seed):
    """S0-003, S0-004, S0-100, S0-101, S1-053, S2-123: also in tables with zeros."""
    joint = random_joint(seed)
    names = np.random.default_rng(seed).permutation(joint.scope.names).tolist()
    for a, b, given in (
        (names[:1], names[1:2], names[2:]),
        (names[:1], names[1:3], names[3:]),
        (names[:1], names[1:], []),
    ):
        assert joint.is_independent(a, b, given) == by_definition(joint, a, b, given)


def test_pairwise_is_not_mutual():
    """S0-102, S0-103: the XOR of two fair coins."""
    for one, other in combinations("xyz", 2):
        assert XOR.is_independent(one, other)
        assert not XOR.is_independent(one, other, given=set("xyz") - {one, other})
    assert not XOR.is_mutually_independent()
    assert XOR.is_mutually_independent(["x", "y"])
    assert not XOR.is_mutually_independent([["x", "y"], "z"])
    assert measure_dependence(XOR, ["x", "y"], "z") == pytest.approx(0.25)


@forall(SEEDS)
def test_products_are_mutually_independent(seed):
    rng = np.random.default_rng(seed)
    parts = [
        Factor([Variable(name, size)], rng.random(size) + 0.1) for name, size in zip("abc", (2, 3, 2), strict=True)
    ]
    joint = parts[0] * parts[1] * parts[2]
    assert joint.is_mutually_independent()
    assert joint.is_mutually_independent(["a", ["b", "c"]])
    assert joint.is_mutually_independent(["a", "b"], given="c")
    assert joint.is_independent("a", ["b", "c"])


# --- semi-graphoids ------------------------------------------------------------------------------------------------


@forall(SEEDS)
def test_the_rules_that_every_distribution_keeps(seed):
    """S0-104: symmetry, repetition, decomposition, weak union, contraction; with networks that have many zeros."""
    joint = random_joint(seed)
    holds = joint.is_independent
    for x, y, z, w in permutations(joint.scope.names):
        assert holds(x, y, z) == holds(y, x, z)
        assert holds(x, [y, z], [z, w]) == holds([x, z], y, [z, w]) == holds(x, y, [z, w])
        if holds(x, [y, z], w):
            assert holds(x, y, w)
            assert holds(x, z, w)
            assert holds(x, y, [z, w])
        if holds(x, y, w) and holds(x, z, [y, w]):
            assert holds(x, [y, z], w)


def test_composition_fails_for_xor_and_intersection_for_copies():
    """S0-104: the converse of decomposition does not hold; nor does intersection where states exclude each other."""
    assert XOR.is_independent("x", "y")
    assert XOR.is_independent("x", "z")
    assert not XOR.is_independent("x", ["y", "z"])
    copies = Factor([X, Y, Z], np.eye(2)[:, :, None] * np.eye(2)[None] * 0.5)
    assert copies.is_independent("x", "y", "z")
    assert copies.is_independent("x", "z", "y")
    assert not copies.is_independent("x", ["y", "z"])


# --- exchangeability -------------------------------------------------------------------------------------------------


def test_the_urn_is_exchangeable_and_a_chain_is_not():
    """S0-327, S0-328, S0-354: independent draws, Pólya's urn and draws without replacement; not a Markov chain."""
    draws = [Variable(f"x{step}", 2) for step in range(4)]

    def urn(added):
        """Two black balls and three white ones; each ball is put back with so many more of its colour, or kept out."""
        table = np.zeros((2,) * 4)
        for sequence in product(range(2), repeat=4):
            balls, probability = np.array([3.0, 2.0]), 1.0
            for ball in sequence:
                probability *= max(balls[ball], 0.0) / balls.sum()
                balls[ball] += added
            table[sequence] = probability
        return Factor(draws, table)

    for added in (-1, 0, 1):  # without replacement; independent; Pólya's
        assert urn(added).is_exchangeable()
        assert urn(added).is_independent("x0", "x1") is (added == 0)
    chain = joint_of(jt.MarkovChain([[0.9, 0.1], [0.2, 0.8]], [2 / 3, 1 / 3]).to_bayesian_network(3))
    assert chain.is_exchangeable(["state0", "state1"])  # of a stationary chain with detailed balance
    assert not chain.is_exchangeable()


@forall(SEEDS)
def test_exchangeable_means_the_same_in_every_order(seed):
    """S0-327: by all permutations of the axes; the tolerance is that of the largest difference."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(27)).reshape(3, 3, 3)
    variables = [Variable(name, list("uvw")) for name in "abc"]
    gap = max(np.abs(table - table.transpose(order)).max() for order in permutations(range(3)))
    assert Factor(variables, table).is_exchangeable(tolerance=1.000001 * gap)
    assert not Factor(variables, table).is_exchangeable(tolerance=0.999999 * gap)
    mixed = sum(table.transpose(order) for order in permutations(range(3)))
    assert Factor(variables, mixed).is_exchangeable()
    with pytest.raises(InvalidModel, match="the same states; a, d have not"):
        Factor([variables[0], Variable("d", 3)], table[0]).is_exchangeable()


# --- tolerance and bad input -----------------------------------------------------------------------------------------


def test_the_tolerance_is_in_conditional_probabilities():
    """A rare state of what is given counts as much as a frequent one."""
    rare, off = 1e-6, 0.01
    common = np.full((2, 2), 0.25) * (1 - rare)
    odd = np.array([[0.25 + off, 0.25 - off], [0.25 - off, 0.25 + off]]) * rare
    joint = Factor([X, Y, Z], np.stack([common, odd], axis=2))
    assert not joint.is_independent("x", "y", "z")
    assert joint.is_independent("x", "y", "z", tolerance=1.01 * off)
    assert not joint.is_independent("x", "y", "z", tolerance=0.99 * off)
    assert joint.is_independent("x", "y", tolerance=1e-6)


def test_the_total_does_not_matter_and_bad_names_are_refused():
    assert Factor([X, Y], np.ones((2, 2)) * 7).is_independent("x", "y")
    with pytest.raises(InvalidModel, match="independent groups share no name"):
        XOR.is_independent(["x", "y"], "y")
    with pytest.raises(UnknownVariable, match="'q'"):
        XOR.is_independent("x", "q")
    with pytest.raises(InvalidModel, match="zero everywhere"):
        Factor([X, Y], np.zeros((2, 2))).is_independent("x", "y")


def test_explaining_away():
    """S1-060, S2-128, S4-202: battery and fuel become dependent once the gauge, or what follows from it, is seen.

    I(B; F | G) = 0.0070548 nats, and I(B; F) = 0.
    """
    fuel = joint_of(jt.example("fuel"))
    assert fuel.is_independent("B", "F")
    assert not fuel.is_independent("B", "F", "G")
    assert jt.information.mutual_information(fuel, "B", "F", "G") == pytest.approx(0.0070548, abs=5e-8)
    assert jt.information.mutual_information(fuel, "B", "F") == pytest.approx(0.0, abs=1e-15)
    student = joint_of(jt.example("student"))
    assert student.is_independent("D", "I")
    assert not student.is_independent("D", "I", "L")
