"""Every family shows itself in a notebook: its parameters as text, its density as a picture where it has one."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree as ET

import pytest

from juncture.drawing.palette import SERIES
from juncture.families.conjugacy import Compound, find_pair
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.registry import FAMILIES
from juncture.families.supports import Integers, Interval
from support.family_examples import EXAMPLES, over_families

SVG = "{http://www.w3.org/2000/svg}"


def picture_in(html: str) -> ET.Element | None:
    found = re.search(r"<svg.*</svg>", html, re.DOTALL)
    return None if found is None else ET.fromstring(found[0])  # noqa: S314 - our own text


@over_families
def test_every_family_has_html(family):
    """Single ones and batches; families of single numbers with a picture."""
    for example in EXAMPLES[family.__name__]:
        html = example._repr_html_()
        assert family.__name__ in html
        assert all(name in html for name in family.parameters)
        assert "nan" not in html
        if isinstance(example.support, Interval | Integers):
            assert picture_in(html) is not None, repr(example)


def test_a_single_distribution_is_its_name_its_parameters_and_a_curve():
    html = Beta(2, 0.123456789)._repr_html_()
    assert re.findall(r"<t[hd]>([^<]*)</t", html) == ["Beta", "a", "b", "", "2", "0.123457"]
    root = picture_in(html)
    assert sum(line.get("fill") == "none" for line in root.iter(f"{SVG}polyline")) == 1


def test_a_batch_shows_its_first_members_in_the_colours_of_the_table():
    html = Gaussian([float(mean) for mean in range(1000)], 1.0)._repr_html_()
    assert "the first 4 of 1,000" in html
    root = picture_in(html)
    drawn = [line.get("stroke") for line in root.iter(f"{SVG}polyline") if line.get("fill") == "none"]
    assert tuple(drawn) == SERIES
    assert re.findall(r"color:(#\w+)", html) == drawn


def test_a_discrete_distribution_has_bars():
    root = picture_in(Bernoulli(0.25)._repr_html_())
    tips = [bar.findtext(f"{SVG}title") for bar in root.iter(f"{SVG}rect") if bar.get("class") is None]
    assert tips == ["0: 0.75", "1: 0.25"]


def test_many_whole_numbers_make_a_curve():
    root = picture_in(FAMILIES["Poisson"](1e6)._repr_html_())
    assert len(list(root.iter(f"{SVG}rect"))) == 1


def test_pairs_have_three_loops_and_larger_vectors_only_text():
    gaussian = FAMILIES["MultivariateGaussian"]
    root = picture_in(gaussian([0.0, 1.0], [[1.0, 0.5], [0.5, 1.0]])._repr_html_())
    assert sum(line.get("fill") == "none" for line in root.iter(f"{SVG}polyline")) == 3
    text = gaussian([0.0, 1.0, 2.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])._repr_html_()
    assert picture_in(text) is None
    assert "[1., 0., 0.],<br/>" in text


@pytest.mark.parametrize(("a", "num"), [(2.0, 1), ([2.0, 3.0, 4.0], 3)])
def test_a_predictive_without_a_name_of_its_own_is_told_and_drawn(a, num):
    compound = Compound(Beta(a, 3.0), find_pair(Beta, Bernoulli, ()), {})
    html = compound._repr_html_()
    assert escape(repr(compound)) in html
    assert len(list(picture_in(html).iter(f"{SVG}rect"))) == 1 + 2 * num


def test_an_empty_batch_is_text():
    assert picture_in(Gaussian([], 1.0)._repr_html_()) is None


@pytest.mark.parametrize("family", [Beta(0.01, 1e-3), Gaussian(1e20, 1.0), Bernoulli([0.0, 1.0]), Beta(1e9, 1e9)])
def test_extreme_parameters_are_drawn(family):
    assert picture_in(family._repr_html_()) is not None
