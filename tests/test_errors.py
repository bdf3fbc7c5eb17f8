"""The tree of errors: what each derives from, how it reads, and that it travels."""

from __future__ import annotations

import copy
import pickle

import pytest

import juncture as jt
from juncture import errors
from juncture.errors import FormatError, JunctureError, MissingExtra, UnknownState, UnknownVariable, hint
from support.command_line import juncture

BUILT_IN = {
    "UnknownVariable": KeyError,
    "UnknownState": KeyError,
    "ImpossibleEvidence": ValueError,
    "InvalidModel": ValueError,
    "InvalidData": ValueError,
    "FormatError": ValueError,
    "Unsupported": TypeError,
    "TooLarge": MemoryError,
    "ObjectiveDecreased": ArithmeticError,
    "MissingExtra": ImportError,
}


def test_the_table_above_is_complete():
    found = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, JunctureError)}
    assert found == {"JunctureError", *BUILT_IN}


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_error_is_also_the_built_in_a_user_expects(name):
    kind = getattr(errors, name)
    assert issubclass(kind, BUILT_IN[name])
    assert issubclass(kind, JunctureError)
    assert getattr(jt, name, kind) is kind  # the five most caught
    assert name in errors.__doc__


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301
def test_the_sentence_is_printed_without_quotes_and_survives_travel(name, travel):
    error = getattr(errors, name)("what is wrong")
    assert str(error) == str(travel(error)) == "what is wrong"
    assert type(travel(error)) is type(error)


def test_format_errors_know_their_place():
    bare = FormatError("expected '}'", line=7)
    assert str(bare) == "7: expected '}'"
    placed = pickle.loads(pickle.dumps(bare.in_file("asia.bif")))  # noqa: S301
    assert (str(placed), placed.file, placed.line, placed.message) == (
        "asia.bif:7: expected '}'",
        "asia.bif",
        7,
        "expected '}'",
    )
    assert str(FormatError("empty", file="asia.bif")) == "asia.bif: empty"


def test_a_missing_package_comes_with_the_line_that_installs_it():
    assert "pip install 'juncture[arrow]'" in str(MissingExtra.named("pyarrow", "arrow"))


@pytest.mark.parametrize(
    ("value", "known", "ending"),
    [
        ("smok", ["smoke", "lung"], "did you mean 'smoke'?"),
        ("SMOKE", ["smoke", "lung"], "did you mean 'smoke'?"),
        (True, [True, False], "did you mean True?"),
        (11, [10, 1], "did you mean 1?"),
        ("zzz", ["a", "b"], "known are 'a', 'b'"),
        ("zzz", list(range(9)), "known are 0, 1, 2, 3, 4, 5, 6, 7, …"),
        ("zzz", [], "there are none"),
    ],
)
def test_hints(value, known, ending):
    assert hint(value, known) == ending


def test_unknown_names_and_states_say_where():
    assert str(UnknownVariable.among("Rian", ["Rain"])) == "the model has no variable 'Rian'; did you mean 'Rain'?"
    assert str(UnknownState.of("Rain", "ye", ["yes"])) == "variable 'Rain' has no state 'ye'; did you mean 'yes'?"


def test_a_warning_points_at_the_line_that_asked():
    """Whatever lies between, such as dispatch by the kind of model."""
    with pytest.warns(UserWarning, match="look here") as caught:
        errors.warn_user("look here", UserWarning)
    assert caught[0].filename == __file__


FORGED = "yes\nERROR root: forged\r\x1b[2J\u2028\u202e"


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_message_writes_a_line_of_a_log(name):
    """Names and labels come from files."""
    error = getattr(errors, name)(f"there is no {FORGED}")
    assert str(error) == "there is no yes\\nERROR root: forged\\r\\x1b[2J\\u2028\\u202e"


def test_labels_and_files_of_messages_are_one_line():
    odd, other = jt.Variable("a\nb", [FORGED, "no"]), jt.Variable("b", ["u, v", "w"])
    model = jt.BayesianNetwork(
        [jt.Conditional(odd, [], [0.0, 1.0]), jt.Conditional(other, [odd], [[0.5, 0.5], [0.0, 1.0]])]
    )
    with pytest.raises(jt.ImpossibleEvidence) as caught:
        jt.infer(model, {"a\nb": FORGED})
    assert f"'a\\nb'={FORGED!r} cannot occur" in str(caught.value)
    with pytest.raises(jt.ImpossibleEvidence, match="b='u, v'"):
        jt.infer(model, {"b": "u, v", "a\nb": "no"})
    with pytest.warns(errors.ColumnKindWarning) as warned:
        jt.Dataset({"a\nb": [*map(str, range(20)), "n/a"]})
    assert "\n" not in str(warned[0].message)
    error = FormatError("no model", file="a\nb.json", line=3)
    assert (str(error), error.file) == ("a\\nb.json:3: no model", "a\nb.json")


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
FORMS = "they differ only in Unicode form"


def test_names_that_differ_in_their_unicode_form_are_told_so():
    model = jt.BayesianNetwork([jt.Conditional(jt.Variable(COMPOSED, [COMPOSED, "no"]), [], [0.5, 0.5])])
    for call in (
        lambda: jt.infer(model, {DECOMPOSED: "no"}),
        lambda: jt.infer(model, {COMPOSED: DECOMPOSED}),
        lambda: jt.fit(model.graph, {DECOMPOSED: ["a", "b"]}),
        lambda: jt.Dataset({COMPOSED: [DECOMPOSED]}, model.variables),
    ):
        with pytest.raises((UnknownVariable, UnknownState), match=FORMS) as caught:
            call()
        assert "'caf\\xe9'" in str(caught.value)
        assert "'cafe\\u0301'" in str(caught.value)
    assert hint("cafe", [COMPOSED, DECOMPOSED]).startswith("did you mean")  # another text


def test_states_that_differ_in_their_unicode_form_are_noted(tmp_path):
    with pytest.warns(errors.TextColumnWarning, match=r"differ only in Unicode form, 'cafe.u0301' and 'caf.xe9'"):
        jt.Dataset({"x": [COMPOSED, DECOMPOSED, "a"]})
    (tmp_path / "rows.csv").write_text(f"x\n{COMPOSED}\n{DECOMPOSED}\n", encoding="utf-8")
    told = "note: the column 'x' has states that differ only in Unicode form, 'cafe\\u0301' and 'caf\\xe9'"
    assert told in juncture("learn", str(tmp_path / "rows.csv")).err
    assert told.removeprefix("note: ") in juncture("info", str(tmp_path / "rows.csv")).out
