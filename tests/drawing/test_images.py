"""Pictures as PNG and PDF: every element of our SVG is painted where it is; a missing package names the pip line."""

from __future__ import annotations

import builtins
import io

import numpy as np
import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from juncture.cli.printing.output import WrongUsage
from juncture.drawing.images import MAX_SIDE, SHARPNESS, find_sharpness, render
from juncture.drawing.marks import opening, polyline, rectangle, text
from juncture.drawing.palette import BAR_FILL

MODEL = jt.example("asia")


def pixels(svg):
    image = pytest.importorskip("matplotlib.image")
    return image.imread(io.BytesIO(render(svg, "png")))[..., :3]


def picture_of(*marks):
    return "\n".join([opening(60, 40), *marks, "</svg>"])


def is_colour(found, x, y, colour):
    wanted = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return np.allclose(found[int(SHARPNESS * y), int(SHARPNESS * x)], wanted, atol=0.01)


def test_marks_are_painted_where_they_are():
    look = f'fill="{BAR_FILL}"'
    found = pixels(
        picture_of(
            f'<g transform="translate(10 5)">{rectangle(0, 0, 10, 10, look)}</g>',
            polyline([(30, 0), (30, 40)], f'fill="none" stroke="{BAR_FILL}" stroke-width="4"'),
            f'<path d="M40 10C40 10 50 10 50 10L50 20H40Z" {look}/>',
            rectangle(5, 20, 20, 20, f'rx="10" {look}'),
        )
    )
    assert found.shape == (80, 120, 3)
    for x, y in ((15, 10), (30, 20), (45, 15), (15, 30), (15, 21)):
        assert is_colour(found, x, y, BAR_FILL), (x, y)
    for x, y in ((5, 10), (25, 10), (35, 20), (55, 15), (5.5, 20.5), (45, 25)):
        assert is_colour(found, x, y, "#ffffff"), (x, y)


def test_large_pictures_have_fewer_dots():
    found = pixels("\n".join([opening(60_000, 10), "</svg>"]))
    assert found.shape[:2] == (5, MAX_SIDE)
    assert find_sharpness((20_000, 20_000)) == 0.5


def test_later_marks_cover_earlier_ones_and_dollars_are_letters():
    words = text(5, 20, "$a^2$", 11, fill="#000000", anchor="start")
    assert (pixels(picture_of(words)) < 0.3).any()
    covered = pixels(picture_of(words, rectangle(0, 0, 60, 40, 'fill="#ff0000"')))
    assert np.allclose(covered[2:-2, 2:-2], [1, 0, 0])


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF"), ("a.svg", b"<svg")])
def test_the_ending_names_the_kind(tmp_path, name, start):
    plt = pytest.importorskip("matplotlib.pyplot")
    picture = jt.draw(jt.PartiallyDirectedGraph.parse("a -> b -- c"))
    picture.save(tmp_path / name)
    with plt.style.context("dark_background"):  # of the user's own plots
        picture.save(tmp_path / f"again{name}")
        assert plt.rcParams["figure.facecolor"] == "black"
    assert (tmp_path / name).read_bytes().startswith(start)
    assert (tmp_path / name).read_bytes() == (tmp_path / f"again{name}").read_bytes()


def test_a_missing_package_names_the_pip_line(tmp_path, monkeypatch):
    known = builtins.__import__

    def without_matplotlib(name, *rest, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return known(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    with pytest.raises(jt.errors.MissingExtra, match=r"pip install 'juncture\[plot\]'"):
        jt.draw(MODEL).save(tmp_path / "asia.png")
    assert not list(tmp_path.iterdir())
    jt.draw(MODEL).save(tmp_path / "asia.svg")


def test_other_kinds_and_other_texts_are_refused(tmp_path):
    with pytest.raises(jt.FormatError, match=r"end the file's name in \.svg, \.png or \.pdf"):
        jt.draw(MODEL).save(tmp_path / "asia.gif")
    with pytest.raises(jt.errors.InvalidData, match="is no SVG"):
        jt.networks.picture.Picture("<p>no</p>").save(tmp_path / "asia.png")


def test_the_command_line_writes_images_and_strengths(tmp_path):
    pytest.importorskip("matplotlib")
    path = str(tmp_path / "asia.png")
    assert CliRunner().invoke(app, ["draw", "asia", "--out", path]).exit_code == 0
    plain, strong = (CliRunner().invoke(app, ["draw", "asia", "-", *more]).output for more in ([], ["--strengths"]))
    assert strong == jt.draw(MODEL, strengths=jt.information.edge_information(MODEL)).svg != plain
    for names in ([], [path, "--out", path]):
        assert isinstance(CliRunner().invoke(app, ["draw", "asia", *names]).exception, WrongUsage)
