"""The networks that ship with the package."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

import juncture as jt
from juncture.errors import FormatError, RenormalizedWarning
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair

SIZES = {  # variables, edges, parameters
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "earthquake": (5, 4, 10),
    "burglary": (5, 4, 10),
    "survey": (6, 6, 21),
    "alarm": (37, 46, 509),
    "fuel": (3, 2, 6),
    "genes": (3, 2, 6),
    "weather": (3, 2, 7),
    "sprinkler": (4, 4, 9),
    "student": (5, 4, 15),
    "seven": (7, 8, 21),
    "oil": (4, 7, 20),
}


def test_the_list_is_complete():
    assert list(jt.examples()) == list(SIZES)
    assert {path.name for path in files("juncture.formats").joinpath("networks").iterdir()} == {
        f"{n}.json" for n in SIZES
    }


@pytest.mark.parametrize("name", SIZES)
def test_each_loads_with_its_size(name):
    """The seven variables have 21 parameters against 127 (S1-020)."""
    model = jt.example(name)

    assert (len(model.variables), len(model.graph.edges), model.num_parameters) == SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_each_file_is_what_the_writer_writes(name):
    text = files("juncture.formats").joinpath("networks", f"{name}.json").read_text(encoding="utf-8")
    rows = RowRepair()
    model = read_json(text.encode(), rows)

    assert write_json(model) == text
    assert rows.count == 0


@pytest.mark.parametrize("name", SIZES)
def test_each_description_is_one_sentence(name):
    sentence = jt.examples()[name]

    assert sentence.endswith(".")
    assert ". " not in sentence
    assert sentence[0].isupper()
    assert "  " not in sentence


@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "survey"])
def test_the_repository_has_the_same(name, networks_folder):
    assert jt.example(name) == jt.read(networks_folder / f"{name}.bif.gz")


def test_the_repository_has_the_same_alarm(networks_folder):
    with pytest.warns(RenormalizedWarning, match="6 rows"):
        assert jt.example("alarm") == jt.read(networks_folder / "alarm.bif.gz")


def test_a_misspelt_name_gets_a_hint():
    with pytest.raises(FormatError, match=r"there is no bundled network 'Asia'; did you mean 'asia'\?"):
        jt.example("Asia")


def test_the_answer_to_examples_can_be_changed():
    jt.examples().clear()

    assert "asia" in jt.examples()


def test_fuel_has_the_numbers_of_the_source():
    """S1-059."""
    model = jt.example("fuel")

    assert model.variable("G").states == (0, 1)
    assert (model["B"][1], model["F"][1]) == (0.9, 0.9)
    assert [model["G"][b, f, 1] for b, f in ((1, 1), (1, 0), (0, 1), (0, 0))] == [0.8, 0.2, 0.2, 0.1]


def test_genes_has_the_numbers_of_the_source():
    """Inventory 2, (a) item 6; P(C = active) = 0.403."""
    model = jt.example("genes")
    active = 0.0
    for a in ("inactive", "active"):
        for b in ("inactive", "active"):
            active += np.exp(model.log_joint({"A": a, "B": b, "C": "active"}))

    assert model["C"]["active", "inactive", "active"] == 0.6
    assert active == pytest.approx(0.403, abs=1e-12)


def test_weather_has_the_numbers_of_the_source():
    """S2-159: the best configuration (Sunny, T, T) has 0.384."""
    model = jt.example("weather")

    best = model.log_joint({"X1": "Sunny", "X2": "T", "X3": "T"})
    assert np.exp(best) == pytest.approx(0.384, abs=1e-12)
    assert model["X2"]["Cloudy", "T"] == 0.4


def test_seven_has_the_graph_of_the_source():
    """S1-020: x5 ← x1, x3."""
    graph = jt.example("seven").graph

    assert list(graph.parents("x4")) == ["x1", "x2", "x3"]
    assert list(graph.parents("x5")) == ["x1", "x3"]
    assert list(graph.parents("x6")) == ["x4"]
    assert list(graph.parents("x7")) == ["x4", "x5"]


def test_sprinkler_has_the_published_answer():
    """P(sprinkler | wet grass) = 0.430 and P(rain | wet grass) = 0.708 (Murphy 1998)."""
    beliefs = jt.infer(jt.example("sprinkler"), {"wet_grass": "yes"})

    assert beliefs["sprinkler"]["yes"] == pytest.approx(0.430, abs=5e-4)
    assert beliefs["rain"]["yes"] == pytest.approx(0.708, abs=5e-4)


def test_student_has_the_published_answers():
    """Koller and Friedman (2009), sections 3.2.1.2 and 3.2.1.3: causal, evidential and intercausal reasoning."""
    student = jt.example("student")
    published = [
        ("L", "l1", {}, 0.502),
        ("L", "l1", {"I": "i0"}, 0.389),
        ("L", "l1", {"I": "i0", "D": "d0"}, 0.513),
        ("I", "i1", {"G": "g3"}, 0.079),
        ("D", "d1", {"G": "g3"}, 0.629),
        ("I", "i1", {"L": "l0"}, 0.14),
        ("I", "i1", {"G": "g3", "L": "l0"}, 0.079),
        ("I", "i1", {"G": "g3", "S": "s1"}, 0.578),
        ("D", "d1", {"G": "g3", "S": "s1"}, 0.76),
        ("I", "i1", {"G": "g3", "D": "d1"}, 0.11),
        ("I", "i1", {"G": "g2"}, 0.175),
        ("I", "i1", {"G": "g2", "D": "d1"}, 0.34),
    ]
    for name, state, seen, answer in published:
        digits = 3 if round(answer, 2) != answer else 2
        assert jt.infer(student, seen)[name][state] == pytest.approx(answer, abs=0.5001 * 10**-digits)


def test_burglary_has_the_published_answers():
    """Russell and Norvig: P(b | j, m) = 〈0.284, 0.716〉, and P(j, m, a, ¬b, ¬e) = 0.000628."""
    burglary, both = jt.example("burglary"), {"JohnCalls": "True", "MaryCalls": "True"}

    assert jt.infer(burglary, both)["Burglary"].values == pytest.approx([0.284, 0.716], abs=5e-4)
    rare = burglary.log_joint({**both, "Alarm": "True", "Burglary": "False", "Earthquake": "False"})
    assert np.exp(rare) == pytest.approx(0.000628, abs=5e-7)
    assert jt.example("earthquake").graph == burglary.graph
