"""A new kind of model is three edits: its folder, a line in the table of kinds, an entry in the registry of the tests.

The folder is `support/change_point`, the other two edits are `support/new_kind.py`, a plugin of pytest. With it all
laws over kinds run on the new kind as they stand, and here is what is particular to it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from juncture.base import kinds
from support.change_point.model import PoissonChangePoint

TESTS = Path(__file__).parent
LAWS = (
    "test_answers_of_all_kinds.py", "test_travelling_answers.py", "test_first_messages.py", "test_wrong_kinds.py",
    "base/test_values.py", "base/documents/test_kinds.py", "base/documents/test_refused.py", "cli/test_model_files.py",
    "kernels/test_paths.py", "learning/em/test_laws.py", "learning/em/test_bounds.py",
)  # fmt: skip
NEW = "(change and point) or (registered and models)"
MODEL = PoissonChangePoint(1.5, 6.0, [0.1, 0.2, 0.3, 0.4])


@pytest.fixture(autouse=True)
def _in_the_table(monkeypatch):
    monkeypatch.setitem(kinds.KINDS, "PoissonChangePoint", "support.change_point")


def test_all_laws_over_kinds_hold_for_it():
    """In a process of its own: the laws read the table and the registry when they are collected."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = ("-v", "-n0", "-p", "no:cacheprovider", "-p", "support.new_kind", "-k", NEW)
    files = [str(TESTS / name) for name in LAWS]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        check=False,
        env={**os.environ, "PYTHONPATH": path},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    passed = re.findall(r"^tests/(\S+?)::.* PASSED", run.stdout, re.MULTILINE)
    assert set(passed) == set(LAWS)


def test_nothing_else_knows_it():
    """The folder, the plugin with both lines, and this test: no other file of the library or of its tests."""
    own = {TESTS / "support" / "new_kind.py", Path(__file__), *(TESTS / "support" / "change_point").glob("*.py")}
    sources = [*TESTS.rglob("*.py"), *(TESTS.parent / "src").rglob("*.py*")]
    texts = (path for path in sources if path not in own and path.suffix in (".py", ".pyi"))
    assert not [path for path in texts if b"PoissonChangePoint" in path.read_bytes()]


def joint_by_listing(row):
    """p(row, change point) of each change point, the missing cells summed over counts below 35."""
    cells = [np.arange(35) if np.isnan(count) else [count] for count in row]
    joint = np.zeros(MODEL.num_steps)
    for change in range(MODEL.num_steps):
        rates = np.where(np.arange(MODEL.num_steps) < change, MODEL.before, MODEL.after)
        for counts in product(*cells):
            joint[change] += MODEL.change[change] * np.prod(np.exp(jt.Poisson(rates).log_prob(np.array(counts))))
    return joint


@pytest.mark.parametrize("row", [[1, 3, 8, 11], [0, 0, 0, 0], [9, np.nan, 2, 7], [np.nan, 1, np.nan, 4]])
def test_the_posterior_is_that_of_listing(row):
    joint = joint_by_listing(row)
    beliefs = jt.infer(MODEL, row)
    assert beliefs["change_point"].values == pytest.approx(joint / joint.sum(), rel=1e-10)
    assert beliefs.log_evidence == pytest.approx(np.log(joint.sum()), rel=1e-10)
    assert jt.log_prob(MODEL, row) == beliefs.log_evidence
    assert jt.most_probable(MODEL, row).assignment == {"change_point": int(joint.argmax())}
    assert [best.assignment["change_point"] for best in jt.most_probable(MODEL, row, k=4)] == list(np.argsort(-joint))


def test_it_is_learned_from_draws_and_its_likelihood_never_falls():
    rows = jt.sample(MODEL, 3000, rng=0)
    fit = jt.fit(PoissonChangePoint(1.0, 2.0, [0.25] * 4), rows)
    assert (fit.model.before, fit.model.after) == pytest.approx((1.5, 6.0), rel=0.05)
    assert fit.model.change == pytest.approx(MODEL.change, abs=0.05)
    assert fit.log_likelihood == pytest.approx(np.sum(jt.log_prob(fit.model, rows)), rel=1e-12)
    assert fit.log_likelihood > np.sum(jt.log_prob(MODEL, rows))
    assert (np.diff(fit.trace.values) >= -1e-9 * np.abs(fit.trace.values[1:])).all()


def test_weights_count_rows_and_names_of_columns_are_kept():
    rows = {"mon": [1, 0, 2], "tue": [2, 9, 8], "wed": [7, 6, 9], "thu": [8, 7, 5]}
    twice = {name: [*column, column[0]] for name, column in rows.items()}
    weighted, repeated = jt.fit(MODEL, rows, weights=[2, 1, 1]), jt.fit(MODEL, twice)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-12)
    assert weighted.model.feature_names == ("mon", "tue", "wed", "thu")


def test_it_says_what_is_wrong():
    with pytest.raises(jt.InvalidModel, match="the rate before the change"):
        PoissonChangePoint(-1.0, 2.0, [1.0])
    with pytest.raises(jt.InvalidModel, match=r"distribution of the change point has a row that sums to 0\.5"):
        PoissonChangePoint(1.0, 2.0, [0.5])
    with pytest.raises(jt.ImpossibleEvidence, match="row 1 has probability zero"):
        jt.fit(MODEL, [[1, 2, 3, 4], [1, 2, 3, -4]])
    with pytest.raises(jt.Unsupported, match=r"fit of a PoissonChangePoint has no option 'wieghts'.*'weights'"):
        jt.fit(MODEL, [[1, 2, 3, 4]], wieghts=[1.0])
    with pytest.raises(jt.InvalidData, match="a row has 4 numbers"):
        jt.infer(MODEL, [1, 2, 3])
