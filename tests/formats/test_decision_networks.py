"""Decision networks in files: JSON, NET and XDSL keep them; the other formats say that they cannot."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.formats.files import FORMATS
from support.decision_examples import random_decision_network

HOLD = (".json", ".net", ".xdsl")
OTHERS = [file_format.suffixes[0] for file_format in FORMATS if file_format.suffixes[0] not in HOLD]
SEEDS = st.integers(0, 2**32 - 1)
HUGIN = """
net { }
node ill { states = ("no" "yes"); }
node test { states = ("negative" "positive"); }
decision treat { states = ("no" "yes"); }
utility worth { label = "what it is worth"; }
potential (ill) { data = (0.9 0.1); }
potential (test | ill) { data = ((0.8 0.2) (0.1 0.9)); }
potential (treat | test) { }
potential (worth | treat ill) { data = ((0 -100) (-10 -20)); }
"""
GENIE = """<smile version="1.0"><nodes>
<cpt id="ill"><state id="no"/><state id="yes"/><probabilities>0.9 0.1</probabilities></cpt>
<cpt id="test"><state id="negative"/><state id="positive"/><parents>ill</parents>
<probabilities>0.8 0.2 0.1 0.9</probabilities></cpt>
<decision id="treat"><state id="no"/><state id="yes"/><parents>test</parents></decision>
<utility id="harm"><parents>ill</parents><utilities>0 -50</utilities></utility>
<utility id="worth"><parents>treat ill</parents><utilities>0 -50 -10 30</utilities></utility>
<mau id="sum"><parents>harm worth</parents><weights>1 1</weights></mau>
</nodes></smile>"""


def read_text(text, suffix, folder):
    path = Path(folder, f"network{suffix}")
    path.write_text(text)
    return jt.read(path)


@pytest.mark.parametrize("suffix", HOLD)
@given(seed=SEEDS)
def test_a_network_is_kept_bit_for_bit(suffix, seed):
    network = random_decision_network(np.random.default_rng(seed), most_parents=2)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"network{suffix}")
        jt.write(network, path)
        again = jt.read(path)
        jt.write(again, path)
        assert jt.read(path) == again
    assert suffix != ".json" or again == network
    assert again.graph == network.graph
    assert [each.variable.name for each in again.decisions] == [each.variable.name for each in network.decisions]
    for one, other in zip(again.parts, network.parts, strict=True) if suffix == ".net" else ():
        assert getattr(one, "values", None) is None or (one.values == other.values).all()
    assert jt.optimal_policy(again).expected_utility == jt.optimal_policy(network).expected_utility


@pytest.mark.parametrize("suffix", HOLD)
def test_the_oil_wildcatter_is_kept(suffix, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jt.write(jt.example("oil"), tmp_path / f"oil{suffix}")
    again = jt.read(tmp_path / f"oil{suffix}")
    assert again == jt.example("oil")
    assert again.variables == jt.example("oil").variables


@pytest.mark.parametrize("suffix", OTHERS)
def test_other_formats_refuse_it_by_name(suffix, tmp_path):
    with pytest.raises(jt.FormatError, match="DecisionNetwork"):
        jt.write(jt.example("oil"), tmp_path / f"oil{suffix}")


def test_a_file_like_those_of_hugin_is_read(tmp_path):
    network = read_text(HUGIN, ".net", tmp_path)
    best = jt.optimal_policy(network)
    assert best["treat"].to_dict() == {"negative": "no", "positive": "yes"}
    assert network["worth"]["yes", "no"] == -10


def test_a_file_like_those_of_genie_is_read_with_its_sum_of_utilities(tmp_path):
    """The two utilities add up to those of the file of Hugin; a weight multiplies."""
    network = read_text(GENIE, ".xdsl", tmp_path)
    hugin = jt.optimal_policy(read_text(HUGIN, ".net", tmp_path))
    assert jt.optimal_policy(network).expected_utility == pytest.approx(hugin.expected_utility)
    doubled = read_text(GENIE.replace("<weights>1 1", "<weights>2 2"), ".xdsl", tmp_path)
    assert jt.optimal_policy(doubled).expected_utility == pytest.approx(2 * hugin.expected_utility)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<weights>1 1</weights>", "", "only weighted sums of utilities are read"),
        ("<parents>harm worth", "<parents>harm ill", "'ill', which is no utility"),
        (
            "<utilities>0 -50</utilities>",
            "<utilities>0</utilities>",
            "declares 2 entries or more, and the file can hold 1",
        ),
        ("<utilities>0 -50</utilities>", "", "utilities"),
        ('<utility id="worth">', '<utility id="harm">', "given before"),
        ('<utility id="worth">', '<utility id="ill">', "given before"),
        ("<parents>treat ill", "<parents>treat sick", "unknown parent 'sick'"),
        ("<utilities>0 -50</utilities>", "<utilities>0 inf</utilities>", "not a finite number"),
    ],
)
def test_broken_utilities_are_refused_in_a_sentence(old, new, words, tmp_path):
    with pytest.raises(jt.FormatError, match=words):
        read_text(GENIE.replace(old, new, 1), ".xdsl", tmp_path)


def test_json_that_breaks_a_rule_is_refused(tmp_path):
    jt.write(jt.example("oil"), tmp_path / "oil.json")
    text = (tmp_path / "oil.json").read_text()
    for old, new, words in [
        ('{"variable": "test", "parents": []},', "", "'test' has no conditional and is no decision"),
        ('"parents": ["test"], "values"', '"parents": ["tset"], "values"', "tset"),
        ("[0.0, -10.0]", "[0.0]", "one axis per parent"),
        ('{"variable": "test", "parents": []},', '{"variable": "test", "parents": []},' * 2, "given twice"),
    ]:
        with pytest.raises(jt.FormatError, match=words):
            read_text(text.replace(old, new, 1), ".json", tmp_path)
