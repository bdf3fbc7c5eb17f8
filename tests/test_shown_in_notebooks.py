"""What notebooks show of answers: well-formed, escaped, with the numbers of their text, on light and dark pages."""

from __future__ import annotations

import inspect
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import juncture as jt
from juncture.drawing.palette import DARK, style_sheet
from support.loops import loop_over
from support.public_arguments import INSTANCES
from support.public_names import public_names

PARTS = {"Scope", "Assignment", "AnyConditional"}  # in jt.results, but no answers
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")
ODD = jt.Variable("<&\"'>", ["<b>", "&"])
OTHER = jt.Variable("b'ad", ["<i>", "no"])
NET = jt.BayesianNetwork(
    [jt.Conditional(ODD, [], [0.25, 0.75]), jt.Conditional(OTHER, [ODD], [[0.9, 0.1], [0.3, 0.7]])]
)
SIZE, WEIGHT = jt.Variable("<size>"), jt.Variable("<weight>")
HYBRID = jt.BayesianNetwork([
    NET.conditionals[0], jt.LinearGaussian(SIZE, [ODD], [[], []], [0.0, 3.0], [1.0, 2.0]),
    jt.LinearGaussian(WEIGHT, [SIZE, ODD], [[0.5], [1.5]], [0.0, 1.0], [1.0, 0.0]),
])  # fmt: skip
WEATHER = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["<dry>", "&wet"])
ROWS = jt.sample(NET, 60, rng=0).to_dict()
ODD_ANSWERS = {
    "beliefs": lambda: jt.infer(NET, {OTHER.name: "<i>"}),
    "beliefs of draws": lambda: jt.infer(NET, {OTHER.name: "<i>"}, method="gibbs", rng=0),
    "soft beliefs": lambda: jt.infer(NET, {OTHER.name: [0.2, 0.9]}),
    "beliefs of rows": lambda: jt.infer(NET, [{OTHER.name: "<i>"}, {}]),
    "real beliefs": lambda: jt.infer(HYBRID, {ODD.name: "&"}),
    "real beliefs of rows": lambda: jt.infer(HYBRID, [{ODD.name: "&"}, {SIZE.name: 1.0}]),
    "drawn real beliefs": lambda: jt.infer(HYBRID, {ODD.name: "&"}, method="likelihood-weighting", rng=0),
    "a real marginal": lambda: jt.infer(HYBRID)[SIZE.name],
    "a mixed joint": lambda: jt.infer(HYBRID).joint(SIZE.name, ODD.name),
    "a conditional": lambda: NET[OTHER.name],
    "a line": lambda: HYBRID[WEIGHT.name],
    "a noisy or": lambda: jt.NoisyOr(OTHER, [ODD], [0.5]),
    "the best": lambda: jt.most_probable(NET),
    "the best few": lambda: jt.most_probable(NET, k=3),
    "the best few real": lambda: jt.most_probable(HYBRID, {SIZE.name: 1.0}, k=2, targets=[ODD.name]),
    "the best paths": lambda: jt.most_probable(WEATHER, [0, 1, 1], k=3),
    "nothing": lambda: jt.most_probable(WEATHER, [], k=3)[:0] or jt.most_probable(WEATHER, [], k=3),
    "a search": lambda: jt.structure.search(ROWS),
    "a cost": lambda: jt.cost(NET),
    "a plan": lambda: jt.compile(NET),
    "a fit": lambda: jt.fit(NET, ROWS),
    "statistics": lambda: jt.statistics(NET.graph, ROWS),
    "a summary of draws": lambda: jt.sample(NET, 200, given={}, method="gibbs", rng=0).summary(),
    "a ROC curve": lambda: jt.evaluation.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]),
    "precision and recall": lambda: jt.evaluation.precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]),
    "calibration": lambda: jt.evaluation.calibration([0, 1] * 40, np.linspace(0.1, 0.9, 80), draws=20, rng=0),
}


def parse(value):
    return ET.fromstring(f"<div>{value._repr_html_()}</div>")  # noqa: S314 - our own text


def shown_text(root):
    """What is read: all texts but style sheets."""
    return " ".join(
        text for mark in root.iter() if not mark.tag.endswith("style") for text in (mark.text, mark.tail) if text
    )


def numbers_in(text):
    """Pairs (number, half a unit of its last digit); 0 of a whole number, which is as it is."""
    found = []
    for word in NUMBER.findall(text):
        plain = word.replace(",", "")
        mantissa, _, exponent = plain.partition("e")
        decimals = len(mantissa.partition(".")[2])
        is_whole = not decimals and not exponent
        found.append((float(plain), 0.0 if is_whole else 0.5 * 10.0 ** (int(exponent or 0) - decimals)))
    return found


def check_numbers(value, root):
    """Each number of the text is there in HTML, as far as both have digits; a percentage is a hundredth."""
    shown = numbers_in(shown_text(root))
    values, rooms = np.array(shown).T if shown else (np.empty(0), np.empty(0))
    for number, room in numbers_in(repr(value)):
        if not room:
            continue  # a size, which a table shows by its rows
        near = np.abs(values - number) <= (rooms + room) * (1 + 1e-9)
        assert near.any(), (number, repr(value), shown_text(root)[:2000])


def instances():
    return {
        name: [value for value in known if not inspect.isclass(value)] for name, known in INSTANCES.items() if known
    }


def test_every_answer_shows_itself():
    """Every class of jt.results, and every class of answers of evaluation, structure, clusters and sampling."""
    for public in public_names():
        if public.namespace == "results" and inspect.isclass(public.thing) and public.name not in PARTS:
            assert hasattr(public.thing, "_repr_html_"), public.path


@loop_over("value", instances())
def test_html_is_well_formed_and_says_the_numbers_of_the_text(value):
    if not hasattr(value, "_repr_html_") or type(value).__module__.startswith("juncture.estimators"):
        return
    check_numbers(value, parse(value))


@pytest.mark.parametrize("answer", ODD_ANSWERS)
def test_odd_names_are_escaped_and_no_number_is_lost(answer):
    value = ODD_ANSWERS[answer]()
    root = parse(value)
    check_numbers(value, root)
    assert not {mark.tag.rpartition("}")[2] for mark in root.iter()} & {"b", "i", "weight"}
    for table in root.iter("table"):
        spans = [sum(int(cell.get("colspan", 1)) for cell in row) for row in table.iter("tr")]
        assert not spans or max(spans) - min(spans) <= 1  # a cell that spans rows


def test_beliefs_say_what_was_observed_and_how_far_draws_err():
    asia = jt.example("asia")
    beliefs = jt.infer(asia, {"xray": "yes", "dysp": [0.2, 0.9]}, method="gibbs", rng=0)
    lines = dict(line.strip().split(": ", 1) for line in repr(beliefs).splitlines()[1:])
    assert lines["xray"] == "yes (observed)"
    assert lines["dysp"].endswith("(soft evidence)")
    error = beliefs.diagnostics.standard_error("lung")[0]
    assert f"± {error:.3f}" in lines["lung"]
    assert f"± {error:.4f}" in beliefs._repr_html_()
    assert "effective sample size" in repr(beliefs)
    assert "±" not in repr(jt.infer(asia, {"xray": "yes"}))
    drawn = jt.draw(asia, beliefs).svg
    assert drawn.count('class="error"') == 2 * 7
    assert f"± {100 * error:.1f}%" in drawn
    rows = jt.infer(asia, [{"asia": "yes"}, {}])._repr_html_()
    assert "grey bars: observed" in rows


def test_the_best_few_have_a_table():
    best = jt.most_probable(jt.example("asia"), {"xray": "yes"}, k=3)
    assert isinstance(best, list)
    assert best == list(best)
    frame = best.to_pandas()
    assert frame.index.tolist() == [1, 2, 3]
    assert frame["log_prob"].tolist() == [each.log_prob for each in best]
    assert frame["lung"].tolist() == [each.assignment["lung"] for each in best]
    paths = jt.most_probable(WEATHER, [0, 1], k=2).to_pandas()
    assert paths[0].tolist() == [each.path[0] for each in jt.most_probable(WEATHER, [0, 1], k=2)]
    assert len(list(parse(best).iter("tr"))) == 4
    assert jt.draw(best).svg == jt.draw(list(best)).svg


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_letters_can_be_read_on_either_ground():
    """WCAG 2: text has a contrast of at least 4.5, and small marks one of 3; muted text beside bars less."""
    from juncture.drawing import palette as p

    grounds = (p.GROUND, p.OPEN_FILL, p.FRAME_FILL, p.MARKED_FILL, p.SHADED_FILL)
    for turn in (str, DARK.__getitem__):
        for ground in grounds:
            assert contrast(turn(p.INK), turn(ground)) >= 7
            assert contrast(turn(p.MUTED), turn(ground)) >= (3.5 if ground == p.SHADED_FILL else 4.5)
        for colour in (p.EDGE, p.OUTLINE, *p.MORE_SERIES):
            assert contrast(turn(colour), turn(p.GROUND)) >= 3


@pytest.mark.parametrize("answer", ODD_ANSWERS)
def test_every_colour_of_a_picture_has_a_dark_one(answer):
    root = parse(ODD_ANSWERS[answer]())
    pictures = [mark for mark in root.iter() if mark.tag.endswith("svg")]
    for picture in pictures:
        used = {mark.get(name) for mark in picture.iter() for name in ("fill", "stroke")} - {None, "none"}
        assert used <= set(DARK)
        assert picture.get("class") in style_sheet()
    if pictures:
        assert any(mark.tag.endswith("style") for mark in root.iter())
