"""The report is one page that needs nothing else, and takes every text of the user as text."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from juncture.cli.comparison import compare_on_table

BAD = '<script>alert("1")</script>'
DOLLAR = "cost $ of $x_$ \\frac"


def hostile_rows(number: int = 60) -> dict[str, list]:
    rng = np.random.default_rng(0)
    kinds = rng.choice([BAD, "&amp;<b>", DOLLAR], number)
    return {
        BAD: [None if i % 7 == 0 else float(x) for i, x in enumerate(rng.normal(size=number))],
        DOLLAR: (rng.normal(size=number) + (kinds == BAD)).tolist(),
        "<img src=x onerror=alert(1)>": rng.choice(["<i>a", "'\"><b>"], number).tolist(),
        "y</title>": kinds.tolist(),
    }


class Page(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page():
    found = compare_on_table(hostile_rows(), "y</title>", learners=["naive-bayes", "logistic"], folds=2, repeats=1)
    return found.to_html()


def parse(text: str) -> Page:
    parser = Page()
    parser.feed(text)
    return parser


def test_texts_of_the_user_are_texts(page):
    tags = {tag for tag, _ in parse(page).tags}
    assert tags <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "div", "table", "thead", "tbody", "tr",
        "th", "td", "figure", "figcaption", "img", "details", "summary", "ul", "li",
    }  # fmt: skip
    assert not any(name.startswith("on") for _, attributes in parse(page).tags for name in attributes)
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_the_page_needs_nothing_else(page):
    addresses = [
        value for _, attributes in parse(page).tags for name, value in attributes.items() if name in {"src", "href"}
    ]
    assert addresses
    assert all(str(address).startswith("data:image/svg+xml;base64,") for address in addresses)
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page


def test_images_load_nothing(page):
    for code in re.findall(r"base64,([\w+/=]+)", page):
        image = base64.b64decode(code).decode()
        assert "<script" not in image
        assert not re.search(r"""href=["'](?!#)(?!data:)""", image)


def test_the_sections_of_classes(page):
    heads = re.findall(r"<h[23]>(.*?)</h[23]>", page)
    assert heads == [
        "Learners", "All scores", "Pictures", "Scores", "Differences that matter", "ROC curves", "Precision and recall",
        "Calibration", "Confusion", "Columns that matter", "Data", "Missing together",
    ]  # fmt: skip


def test_the_sections_of_numbers():
    rows = {"x": [0.1 * i for i in range(30)], "y": [0.5 * i + (i * i) % 7 for i in range(30)]}
    page = compare_on_table(rows, "y", learners=["bayesian-linear"], folds=2, repeats=1, importance=False).to_html()
    heads = re.findall(r"<h3>(.*?)</h3>", page)
    assert heads == ["All scores", "Scores", "Differences that matter", "Predicted and true", "Residuals"]


def test_the_same_comparison_gives_the_same_page(page):
    found = compare_on_table(hostile_rows(), "y</title>", learners=["naive-bayes", "logistic"], folds=2, repeats=1)
    without_seconds = [re.sub(r"<td>\d+\.\d</td></tr>", "", text) for text in (found.to_html(), page)]
    assert without_seconds[0] == without_seconds[1]
