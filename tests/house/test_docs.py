"""The documentation is true: every public name is in the reference, and every snippet, command and example runs."""

from __future__ import annotations

import doctest
import importlib
import io
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

import juncture as jt
from juncture.cli.main import run
from juncture.names import FLAT, names_in
from support.builders import rows_with_holes
from support.loops import loop_over
from support.public_names import public_names

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:\$ )?(juncture .*)")
PYTHON = {"python", "pycon", "{picture}"}
COMMAND_LINES = {"", "console", "shell"}
EXTRAS = ("pandas", "polars", "pyarrow", "networkx", "matplotlib", "sklearn")
SESSIONS, PROMPTS = {"pycon", "console"}, (">>> ", "... ", "$ ")
COLUMN = 88  # characters that fit into the column of the theme
STAY = [[0.75, 0.25], [0.25, 0.75]]
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


class Block(NamedTuple):
    """A fenced block: its language, the marks after it, its text, and the line it starts on."""

    language: str
    marks: frozenset[str]
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks = []
    for found in FENCE.finditer(text):
        language, *marks = found["info"].split() or [""]
        blocks.append(Block(language, frozenset(marks), found["body"], text.count("\n", 0, found.start()) + 2))
    return blocks


def pages_with(languages: set[str]) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What the snippets read."""
    folder = tmp_path_factory.mktemp("files")
    jt.write(jt.example("asia"), folder / "asia.bif")
    jt.write(jt.example("asia"), folder / "fitted.bif")
    jt.write(jt.HiddenMarkovModel([0.5, 0.5], STAY, STAY, states=["dry", "wet"]), folder / "weather.json")
    rows_with_holes(jt.example("asia"), 1000).to_csv(folder / "rows.csv")
    (folder / "costs.csv").write_text("decision,yes,no\nwait,100,0\ntreat,20,10\n", encoding="utf-8")
    (folder / "patients.csv").write_text("patient,smoke,xray\nP1,sometimes,yes\nP2,no,\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(files, tmp_path, monkeypatch):
    """Snippets may write; a network as a file is at hand."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


# --- the reference -------------------------------------------------------------------------------------------------


def test_every_public_name_is_on_one_page_of_the_reference():
    """A name of a namespace is on the page of the namespace; one of `jt` itself on some page."""
    entry = re.compile(r"^\.\. (?:auto\w+|data):: juncture\.((?:\w+\.)*\w+)$", re.MULTILINE)
    pages = [(page.stem, entry.findall(page.read_text(encoding="utf-8"))) for page in (DOCS / "reference").glob("*.md")]
    documented = [(path, stem) for stem, paths in pages for path in paths]
    stems = dict(documented)
    assert len(stems) == len(documented)
    in_both = {*names_in(FLAT)} & {*names_in("errors")}
    public = [one for one in public_names() if one.namespace != FLAT or one.name not in in_both]
    assert [one.path for one in public if one.path not in stems] == []
    assert [one.path for one in public if one.namespace not in (FLAT, stems[one.path])] == []


def test_every_page_of_the_reference_is_in_its_contents():
    listed = re.findall(r"^(\w+)$", (DOCS / "reference" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.stem for page in (DOCS / "reference").glob("*.md") if page.stem != "index")


# --- the map of the sources ----------------------------------------------------------------------------------------


def rows_in(text: str) -> set[str]:
    """The rows of the sources that a text names; `S2-043 to S2-045` names three."""
    rows = set(re.findall(r"S\d-\d{3}", text))
    for source, first, last in re.findall(r"(S\d)-(\d{3}) to S\d-(\d{3})", text):
        rows |= {f"{source}-{number:03}" for number in range(int(first), int(last) + 1)}
    return rows


def test_the_map_has_every_row_that_a_test_cites():
    mapped = rows_in((DOCS / "sources.md").read_text(encoding="utf-8"))
    others = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__).resolve()]
    assert set().union(*(rows_in(path.read_text(encoding="utf-8")) for path in others)) - mapped == set()


def test_the_map_names_files_that_are_there():
    named = re.findall(r"`([\w/]+\.py)`", (DOCS / "sources.md").read_text(encoding="utf-8"))
    assert named
    missing = [name for name in named if not (ROOT / name).exists() and not (ROOT / "src/juncture" / name).exists()]
    assert missing == []


# --- Python --------------------------------------------------------------------------------------------------------


GUIDE = [page for page in pages_with(PYTHON) if page != README]  # the README has a test of its own


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_python_runs_and_says_what_the_page_says(page, monkeypatch, capsys):
    """In one namespace a page; what follows `>>>` is compared with what comes out. So with its commands."""
    run_page(page, monkeypatch, capsys)


PACKAGES = {"jax", "pyagrum"}  # blocks that are marked with one of these run where it is installed


def is_here(package: str) -> bool:
    """Whether a package can be imported, which warns of its own faults."""
    with warnings.catch_warnings(), suppress(ImportError):
        warnings.simplefilter("ignore")
        return bool(importlib.import_module(package))
    return False


def run_page(page: Path, monkeypatch, capsys) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks_of(page):
        if block.language in PYTHON and "no-run" not in block.marks and all(map(is_here, PACKAGES & set(block.marks))):
            run_block(block, names, page)
        if block.language in COMMAND_LINES and page not in COMMAND_PAGES:
            for documented in calls_of(block):
                check_call(documented, monkeypatch, capsys)


def run_block(block: Block, names: dict[str, object], page: Path) -> None:
    if block.language == "pycon":
        check_session(block, names, page)
    else:
        code = "\n" * (block.line - 1) + block.text  # so that a traceback names the line of the page
        exec(compile(code, str(page), "exec"), names)  # noqa: S102


WITH_JAX = [jt.neural.amortized_variational, jt.families.black_box_variational, jt.sampling.sample_log_density]


@pytest.mark.parametrize("function", WITH_JAX, ids=lambda function: function.__name__)
def test_examples_that_are_skipped_without_jax_run_with_it(function):
    if not is_here("jax"):
        pytest.skip("the extra jax is not installed")
    example = doctest.DocTestFinder().find(function, function.__name__)[0]
    for line in example.examples:
        line.options.pop(doctest.SKIP, None)
    report: list[str] = []
    failed = doctest.DocTestRunner(checker=Checker(), verbose=False).run(example, out=report.append).failed
    assert not failed, "".join(report)


class Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return same(want.replace(doctest.BLANKLINE_MARKER, ""), got)


def same(shown: str, printed: str) -> bool:
    """Equal text but for white space; what is printed rounds to the number shown, or equals it to 1e-9."""
    left, right = NUMBER.findall(shown), NUMBER.findall(printed)
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split() or len(left) != len(right):
        return False
    return all(map(rounds_to, right, left))


def rounds_to(printed: str, shown: str) -> bool:
    """Whether a number is within half a unit of the last digit shown; at half a unit, it rounds as Python rounds."""
    digits, _, exponent = shown.partition("e")
    places = len(digits.partition(".")[2]) - int(exponent or 0)
    distance, half = abs(Decimal(printed) - Decimal(shown)), Decimal(5).scaleb(-places - 1)
    is_rounded = distance < half or (distance == half and round(float(printed), places) == float(shown))
    return is_rounded or distance <= abs(Decimal(shown)) * Decimal("1e-9")


def test_numbers_are_compared_to_half_a_unit_of_the_last_digit_shown():
    assert same("p = 0.142 and 3", "p  =  0.14228 and 3")
    assert same("p = 1.0, q = -2.5e-06", "p = 0.999999999998, q = -2.4612e-06")
    assert same("p = 0.12", "p = 0.125")
    for shown, printed in (
        ("0.1422", "0.1423"), ("0.9", "0.999999999998"), ("1.0", "0.95"), ("0.13", "0.125"), ("1.0e-03", "1.1e-03"),
        ("0.142 p", "0.142 q"), ("1", "1.0"), ("0.5", "-0.5"),
    ):  # fmt: skip
        assert not same(shown, printed), (shown, printed)


def check_session(block: Block, names: dict[str, object], page: Path) -> None:
    session = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    report: list[str] = []
    runner = doctest.DocTestRunner(checker=Checker(), verbose=False)
    failed = runner.run(session, out=report.append, clear_globs=False).failed
    names.update(session.globs)
    assert not failed, "".join(report)


# --- the command line ----------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """A command line of a page, what it prints there, and how it ends."""

    line: str
    output: str
    code: int


def calls_of(block: Block) -> list[Call]:
    calls: list[Call] = []
    for line in block.text.splitlines():
        found = COMMAND.match(line)
        if found:
            calls.append(Call(found[1], "", int("exit-1" in block.marks)))
        elif calls:
            calls[-1] = calls[-1]._replace(output=calls[-1].output + line + "\n")
    return calls


def calls_in(page: Path) -> list[Call]:
    blocks = [block for block in blocks_of(page) if block.language in COMMAND_LINES]
    return [call for block in blocks for call in calls_of(block) if "COMMAND" not in call.line]


class Answer(NamedTuple):
    code: int
    out: str
    err: str


def call(line: str, monkeypatch, capsys) -> Answer:
    """The end of a pipe of commands, each run as the `juncture` command runs it."""
    answer = Answer(0, "", "")
    for command in line.split(" | "):
        monkeypatch.setattr(sys, "argv", shlex.split(command, comments=True))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(answer.out.encode())))
        with pytest.raises(SystemExit) as ended:
            run()
        printed = capsys.readouterr()
        answer = Answer(int(ended.value.code or 0), printed.out, answer.err + printed.err)
        if answer.code:
            break
    return answer


COMMAND_PAGES = (DOCS / "cli.md", DOCS / "structure.md")
COMMANDS = [pytest.param(item, id=item.line) for page in COMMAND_PAGES for item in calls_in(page)]


@pytest.mark.parametrize("documented", COMMANDS)
def test_commands_run_and_print_what_the_page_prints(documented, monkeypatch, capsys):
    check_call(documented, monkeypatch, capsys)


def check_call(documented: Call, monkeypatch, capsys) -> None:
    monkeypatch.setenv("JUNCTURE_NUM_THREADS", "1")  # no answer depends on it; `warmup` starts no second process
    answer = call(documented.line, monkeypatch, capsys)
    assert answer.code == documented.code, answer.err
    if documented.output.strip():
        assert same(documented.output, answer.out + answer.err), answer.out + answer.err


def test_guide_pages_have_a_picture():
    drawn = re.compile(r"^```\{picture\}|asia\.svg\)", re.MULTILINE)
    bare = {page.stem for page in GUIDE if not drawn.search(page.read_text(encoding="utf-8"))}
    assert bare <= {"in_production", "errors"}


# --- links -------------------------------------------------------------------------------------------------------


def anchors_in(page: Path) -> set[str]:
    """The anchors of the headings, as Sphinx makes them."""
    titles = re.findall(r"^#{1,3} (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_to_headings():
    anchors = {page.stem: anchors_in(page) for page in DOCS.glob("*.md")}
    link = re.compile(r"\]\((?:(?:\.\./)?(\w+)\.md)?#([^)]+)\)")
    found = [(page, *match) for page in DOCS.rglob("*.md") for match in link.findall(page.read_text(encoding="utf-8"))]
    assert found
    assert [each for page, *each in found if each[1] not in anchors[each[0] or page.stem]] == []


# --- the README ----------------------------------------------------------------------------------------------------


def test_the_readme_runs_in_order_in_an_empty_folder_without_extras(tmp_path, monkeypatch, capsys):
    """As it does after `make demo`; what it draws is the picture it shows."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for extra in EXTRAS:
        monkeypatch.setitem(sys.modules, extra, None)
    run_page(README, monkeypatch, capsys)
    drawn, shown = (path.read_text(encoding="utf-8") for path in (Path("asia.svg"), DOCS / "asia.svg"))
    assert same(shown, drawn), "docs/asia.svg is out of date: make demo draws it anew, as demo/asia.svg"


# --- the column ----------------------------------------------------------------------------------------------------


@loop_over("page", {"every page": PAGES})
def test_code_fits_the_column(page):
    """What a reader copies is not broken by the theme; what is printed may be."""
    wide = [
        f"{page.name}:{line}: {len(text)} characters"
        for block in blocks_of(page)
        if block.language in PYTHON | COMMAND_LINES
        for line, text in enumerate(block.text.splitlines(), block.line)
        if len(text) > COLUMN and (block.language not in SESSIONS or text.startswith(PROMPTS))
    ]
    assert not wide


# --- examples and the build ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples_run(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_there_are_examples_and_snippets():
    assert len(EXAMPLES) >= 3
    assert len(COMMANDS) >= 12
    assert {page.stem for page in pages_with(PYTHON)} >= {"README", "getting_started", "concepts", "data"}


def test_the_documentation_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    pytest.importorskip("sphinx_copybutton")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(DOCS),
        str(tmp_path / "html"),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
