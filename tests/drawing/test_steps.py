"""Pictures over steps, and tables: all marks and texts inside the frame, no text over another, and what they show."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.courses import HEIGHT, MAX_POINTS, Course, Panel
from juncture.drawing.grids import Grid, GridCell
from juncture.drawing.lattice import Cell, Lattice, Link
from juncture.drawing.shares import MAX_COLUMNS, MAX_LANES, ShareDiagram, Shares
from juncture.drawing.svg import to_svg
from juncture.drawing.text import shorten_middle, shorten_texts, text_width

SVG = "{http://www.w3.org/2000/svg}"
WORDS = st.lists(st.text(max_size=40), min_size=1, max_size=6)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
LONG = "the share of households of the northern region that own their home, in percent"


def parse(drawing):
    return ET.fromstring(to_svg(drawing))  # noqa: S314 - our own text


def of_class(root, name):
    return [mark for mark in root.iter() if mark.get("class") == name]


def text_boxes(root):
    """(left, top, right, bottom) of each text, by the width that layouts reckon with."""
    boxes = []
    for mark in root.iter(f"{SVG}text"):
        wide = text_width(mark.text or "", float(mark.get("font-size")))
        left = float(mark.get("x")) - {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.get("text-anchor")] * wide
        base = float(mark.get("y"))
        boxes.append((left, base - 9, left + wide, base + 2))
    return [box for box in boxes if box[2] > box[0]]


def corners(root):
    for mark in root.iter(f"{SVG}rect"):
        x, y = float(mark.get("x", 0)), float(mark.get("y", 0))
        yield from ((x, y), (x + float(mark.get("width")), y + float(mark.get("height"))))
    for mark in root.iter(f"{SVG}polyline"):
        yield from (tuple(map(float, point.split(","))) for point in mark.get("points").split())


def check_picture(drawing):
    """Everything is inside the frame, and no text lies over another."""
    root = parse(drawing)
    wide, high = float(root.get("width")), float(root.get("height"))
    for x, y in corners(root):
        assert -0.1 <= x <= wide + 0.1
        assert -0.1 <= y <= high + 0.1
    boxes = text_boxes(root)
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= wide
        assert bottom <= high
    for one, other in combinations(boxes, 2):
        is_apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert is_apart, (one, other)
    return root


@given(
    num_steps=st.integers(1, 700),
    labels=WORDS,
    has_dates=st.booleans(),
    seed=st.integers(0, 99),
    note=st.sampled_from(["", LONG]),
)
def test_shares_of_any_size(num_steps, labels, has_dates, seed, note):
    values = np.random.default_rng(seed).dirichlet(np.ones(len(labels)), num_steps)
    values[: num_steps // 3] = np.nan
    index = [f"2024-02-{step:05d} 00:00:00" for step in range(num_steps)] if has_dates else None
    root = check_picture(ShareDiagram((Shares("x", tuple(labels), values),) * 2, index, "row", note))
    assert len(of_class(root, "lane")) == 2 * len(labels)


def test_shades_are_the_shares_and_long_sequences_are_averaged():
    root = parse(ShareDiagram((Shares("state", ("dry", "wet"), np.array([[1.0, 0.0], [0.25, 0.75], [0.25, 0.75]])),)))
    marks = of_class(root, "share")
    assert [float(mark.get("fill-opacity")) for mark in marks] == pytest.approx([1.0, 0.24, 0.76])
    tips = [mark.find(f"{SVG}title").text for mark in marks]
    assert tips == ["dry, step 0: 100%", "dry, step 1 to 2: 25.0%", "wet, step 1 to 2: 75.0%"]
    steps = 10 * MAX_COLUMNS
    even = np.tile([[1.0, 0.0], [0.0, 1.0]], (steps // 2, 1))
    root = parse(ShareDiagram((Shares("state", ("dry", "wet"), even),)))
    assert {mark.get("fill-opacity") for mark in of_class(root, "share")} == {"0.5"}
    assert f"a column is the mean of 10 of the {steps:,} steps" in "".join(root.itertext())


def test_many_states_are_summed_up():
    values = np.full((2, 50), 0.02)
    root = check_picture(ShareDiagram((Shares("x", tuple(f"state {at}" for at in range(50)), values),)))
    assert len(of_class(root, "lane")) == MAX_LANES
    assert f"… {50 - MAX_LANES + 1} more" in "".join(root.itertext())


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=4))
def test_courses_of_any_numbers(rows):
    panels = tuple(
        Panel(LONG, np.array(row), np.array(row) - 1.0, np.array(row) + 1.0, (np.array(row),)) for row in rows
    )
    check_picture(Course(panels, ["a", "b", "c"], ("mean", "95 % of the probability", "observed"), "a note"))


def test_a_line_a_band_and_points():
    numbers = np.array([0.0, 1.0, np.nan, 3.0, 2.0])
    root = check_picture(Course((Panel("level", numbers, numbers - 1, numbers + 1, (numbers,)),), key=("mean", "", "")))
    assert len(of_class(root, "band")) == 2  # before and after the hole
    assert len(of_class(root, "point")) == 4
    line = next(mark for mark in of_class(root, "line") if len(mark.get("points").split()) == 2)
    (left, below), (right, above) = (map(float, point.split(",")) for point in line.get("points").split())
    assert left < right
    assert 0 < below - above < HEIGHT


def test_long_courses_are_thinned():
    steps = 5 * MAX_POINTS
    root = check_picture(Course((Panel("level", np.arange(float(steps))),), note="up and up"))
    (line,) = of_class(root, "line")
    assert len(line.get("points").split()) == MAX_POINTS
    assert f"up and up; {MAX_POINTS} of {steps:,} steps are drawn" in "".join(root.itertext())


@given(lanes=WORDS, steps=st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_lattices_run_from_left_to_right(lanes, steps):
    cells = tuple(Cell(step, lane, f"{-step}.25") for step in range(len(steps)) for lane in range(len(lanes)))
    links = tuple(
        Link(one, other, is_marked=True)
        for one, other in combinations(range(len(cells)), 2)
        if cells[one].step + 1 == cells[other].step
    )
    root = check_picture(Lattice(tuple(lanes), tuple(steps), cells, links, ("best", "others"), LONG))
    boxes = [cell.find(f"{SVG}rect") for cell in of_class(root, "cell")]
    for cell, box in zip(cells, boxes, strict=True):
        same = [other for node, other in zip(cells, boxes, strict=True) if node.step == cell.step]
        assert {float(other.get("x")) for other in same} == {float(box.get("x"))}
    assert len(of_class(root, "edge")) == len(links)


@given(heads=WORDS, seed=st.integers(0, 99))
def test_tables_have_room_for_their_texts(heads, seed):
    rng = np.random.default_rng(seed)
    rows = [
        tuple(
            GridCell(LONG[: rng.integers(0, 60)], rng.random() if column == 1 else None) for column in range(len(heads))
        )
        for _ in range(3)
    ]
    check_picture(Grid(tuple(heads), tuple(rows), (LONG,)))


def test_heads_stand_above_the_middle_of_their_cells():
    grid = Grid(("a", "a long head"), ((GridCell("a cell that is wide"), GridCell("1")),))
    places = {mark.text: float(mark.get("x")) for mark in parse(grid).iter(f"{SVG}text")}
    assert places["a"] == places["a cell that is wide"] < places["a long head"] == places["1"]


def test_texts_are_cut_but_not_where_they_differ():
    bins = ["26171.4 – 34488.5", "26171.4 – 45194.2", "≥ 61032.4"]
    assert shorten_texts(bins, 11, 84, 250) == bins
    ends = shorten_texts([f"{LONG} {end}" for end in "AB"], 11, 84, 250)
    assert ends[0] != ends[1]
    assert all(text_width(each, 11) <= 250 for each in ends)
    for room in (20.0, 60.0, 200.0):
        assert text_width(shorten_middle("é" * 99 + LONG, 13, room), 13) <= room
