"""Linear coupling θ = Bη: tied tables, features, and one equation for one coupling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_matrix

import juncture as jt
from support.undirected_examples import LOOP, joint_of, model_over, rows_of

RING = [jt.Variable(f"s{place}", [-1, 1]) for place in range(5)]
PAIRS = [(RING[place], RING[(place + 1) % 5]) for place in range(5)]
IS_EQUAL = np.array([1.0, -1.0, -1.0, 1.0])  # the product of two spins


def ising(coupling: float = 0.0) -> jt.MarkovNetwork:
    return jt.MarkovNetwork([jt.Factor(pair, np.exp(coupling * IS_EQUAL).reshape(2, 2)) for pair in PAIRS])


def ring_moment(coupling: float) -> float:
    """Σ E[product of neighbours] in a ring of five spins: ∂ log Z, where Z = (2 cosh J)⁵ + (2 sinh J)⁵."""
    cosh, sinh = np.cosh(coupling), np.sinh(coupling)
    return 5 * (cosh**4 * sinh + sinh**4 * cosh) / (cosh**5 + sinh**5)


def test_one_coupling_solves_one_moment_equation():
    rows = jt.sample(ising(0.4), 500, rng=0)
    matrix = np.tile(IS_EQUAL, 5)[:, np.newaxis]
    spins = np.stack([2 * rows.columns[variable.name].astype(int) - 1 for variable in RING], axis=1)
    mean = (spins * np.roll(spins, -1, axis=1)).sum(axis=1).mean()
    wanted = brentq(lambda coupling: ring_moment(coupling) - mean, -2, 2)
    for coupling in (matrix, csr_matrix(matrix)):
        fitted = jt.fit(ising(), rows, coupling=coupling)
        assert fitted.trace.converged
        for part in fitted.model.factors:  # S3-031
            assert np.allclose(part.log_values.reshape(-1), wanted * IS_EQUAL, atol=1e-6)


def test_the_identity_couples_nothing():
    rows = rows_of(model_over(LOOP, 1), 400)
    size = sum(part.scope.size for part in model_over(LOOP).factors)
    found, wanted = jt.fit(model_over(LOOP), rows, coupling=np.eye(size)), jt.fit(model_over(LOOP), rows)
    assert np.allclose(joint_of(found.model).values, joint_of(wanted.model).values, atol=1e-6)


def test_penalties_pseudo_likelihood_and_holes_take_a_coupling():
    rows = jt.sample(ising(0.4), 500, rng=0)
    matrix = np.tile(IS_EQUAL, 5)[:, np.newaxis]
    holes = {name: [None, *cells[1:]] for name, cells in rows.to_dict().items()}
    for data, options in ((rows, {"penalty": jt.L1(1.0)}), (rows, {"method": "pseudo-likelihood"}), (holes, {})):
        fitted = jt.fit(ising(), data, coupling=matrix, **options)
        assert fitted.trace.converged
        assert fitted.model.factors[0].log_values[0, 0] == pytest.approx(0.4, abs=0.1)
        assert all(np.array_equal(part.values, fitted.model.factors[0].values) for part in fitted.model.factors)


def test_what_is_refused():
    rows = jt.sample(ising(), 10, rng=0)
    with pytest.raises(jt.errors.InvalidData, match="20 rows"):
        jt.fit(ising(), rows, coupling=np.ones((3, 1)))
    with pytest.raises(jt.errors.InvalidData, match="a matrix"):
        jt.fit(ising(), rows, coupling="tied")
    with pytest.raises(jt.errors.InvalidData, match="finite"):
        jt.fit(ising(), rows, coupling=np.full((20, 1), np.nan))
    with pytest.raises(jt.errors.Unsupported, match="no coupling"):
        jt.fit(ising(), rows, coupling=np.ones((20, 1)), method="ipf")
