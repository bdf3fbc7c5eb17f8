"""Charts: well formed, inside the frame, with round numbers beside them."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from juncture.drawing.chart import HEIGHT, WIDTH, Series, chart_svg, labels, ticks

SVG = "{http://www.w3.org/2000/svg}"
HILL = Series(((0.0, 0.0), (1.0, 2.0), (2.0, 0.0)))
BARS = Series(((0.0, 0.25), (1.0, 0.75)), "bars")
SQUARE = Series(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)), "loop")
NUMBERS = st.floats(-1e12, 1e12)


def parse(*series, title=""):
    return ET.fromstring(chart_svg(series, title))  # noqa: S314 - our own text


def lines(root):
    """The drawn lines, without the areas and the axes."""
    found = [line for line in root.iter(f"{SVG}polyline") if line.get("fill") == "none"]
    return [[tuple(map(float, point.split(","))) for point in line.get("points").split()] for line in found]


def test_a_curve_is_a_line_over_a_filled_area():
    root = parse(HILL, title="a < b")
    assert root.find(f"{SVG}title").text == "a < b"
    (curve,) = lines(root)
    left, top, right = curve
    assert left[0] < top[0] < right[0]
    assert top[1] < left[1] == right[1]


def test_bars_stand_side_by_side_with_their_numbers_as_tips():
    root = parse(BARS, Series(((0.0, 1.0),), "bars", "#000000"))
    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.get("class") is None]
    assert [bar.find(f"{SVG}title").text for bar in bars] == ["0: 0.25", "1: 0.75", "0: 1"]
    first, _, other = bars
    assert float(first.get("x")) + float(first.get("width")) == pytest.approx(float(other.get("x")), abs=0.1)
    assert float(bars[1].get("height")) == pytest.approx(3 * float(first.get("height")), abs=0.3)


def test_a_loop_is_closed():
    ((*points, last),) = lines(parse(SQUARE))
    assert last == points[0]


@given(st.lists(st.tuples(NUMBERS, st.floats(0, 1e12)), min_size=1, max_size=5), st.sampled_from(["curve", "loop"]))
def test_nothing_leaves_the_picture(points, kind):
    root = parse(Series(tuple(sorted(points)), kind))
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for line in lines(root) for x, y in line)
    assert all(0 <= float(text.get("x")) <= WIDTH for text in root.iter(f"{SVG}text"))


@given(NUMBERS, st.floats(1e-3, 1e12), st.integers(1, 10))
@example(low=-457179466990.93823, span=0.001, most=8)
def test_ticks_are_few_in_order_and_inside(low, span, most):
    found = ticks(low, low + span, most)
    assert 1 <= len(found) <= most + 1
    assert found == sorted(set(found))
    assert low - 1e-9 * span <= found[0]
    assert found[-1] <= low + span * (1 + 1e-9)
    assert len(set(labels(found))) == len(found)


def test_whole_numbers_have_whole_ticks():
    assert ticks(-0.5, 1.5, 8, whole=True) == [0.0, 1.0]


def test_the_same_chart_is_the_same_text():
    assert chart_svg([HILL, BARS]) == chart_svg([HILL, BARS])


def test_a_curve_below_the_smallest_normal_number_is_drawn():
    assert lines(parse(Series(((0.0, 0.0), (1.0, 5e-324)))))
