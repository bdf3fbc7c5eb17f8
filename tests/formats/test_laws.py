"""What all formats promise, over the list of formats: a new one is held to it at once."""

from __future__ import annotations

import errno
import gzip
import resource
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given

import juncture as jt
from juncture.errors import FormatError, RenormalizedWarning
from juncture.formats.files import FORMATS
from juncture.variables import Variable
from support.loops import loop_over
from support.odd_models import any_models, plain_networks

every_format = pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)
DIRECTED = [file_format for file_format in FORMATS if file_format.name != "fg"]  # the others hold no rows to check
every_directed_format = pytest.mark.parametrize("file_format", DIRECTED, ids=lambda file_format: file_format.name)
SUFFIXES = [suffix for file_format in FORMATS for suffix in file_format.suffixes]

A, B = jt.Variable("x0", 2), jt.Variable("x1", 2)
SMALL = jt.BayesianNetwork([jt.Conditional(A, [], [0.25, 0.75]), jt.Conditional(B, [A], [[0.5, 0.5], [0.625, 0.375]])])
SMALL_GRAPH = SMALL.to_factor_graph()


def small(suffix):
    """A small model that this format keeps whole."""
    return SMALL_GRAPH if suffix.lower() == ".fg" else SMALL


def skeleton(model):
    """What is left of a model without its names: numbers of states, and each table by positions and bits."""
    places = {name: place for place, name in enumerate(model.variables.names)}
    tables = [([places[name] for name in part.scope.names], part.values.tobytes()) for part in model.factors]
    return model.variables.shape, tables


def as_text(model):
    """The same model with every state as text, which is how most formats read them."""
    new = {v.name: Variable(v.name, map(str, v.labels)) for v in model.variables}
    if not isinstance(model, jt.BayesianNetwork):
        factors = [jt.Factor([new[name] for name in part.scope.names], part.values) for part in model.factors]
        return type(model)(factors, new.values())
    return jt.BayesianNetwork(
        type(part)(new[part.child.name], [new[name] for name in part.parents.names], getattr(part, part._fields[-1]))
        for part in model.conditionals
    )


def written(model, path):
    """What writing said: an error or nothing, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            jt.write(model, path)
        except FormatError as error:
            return error, said
    return None, said


def same(model, other):
    return model == other and model.variables == other.variables


# --- write, then read ------------------------------------------------------------------------------------------------


@every_directed_format
@given(model=plain_networks())
def test_what_every_format_can_express_is_kept_bit_for_bit(file_format, model):
    with TemporaryDirectory() as folder:
        path = Path(folder, f"model{file_format.suffixes[0]}")
        jt.write(model, path)
        again = jt.read(path)

    assert skeleton(again) == skeleton(model)
    assert same(again, model) or same(again, as_text(model))


@every_format
@given(model=any_models)
def test_what_a_format_cannot_express_is_an_error_or_one_warning_never_silence(file_format, model):
    with TemporaryDirectory() as folder:
        path = Path(folder, f"model{file_format.suffixes[0]}")
        error, said = written(model, path)
        if error is not None:
            assert not list(Path(folder).iterdir())
            assert str(path) in str(error)
            return
        again = jt.read(path)
        first = path.read_bytes()
        jt.write(again, path)  # without a warning: what was read can be expressed

        assert path.read_bytes() == first
        assert same(jt.read(path), again)
    assert len(said) <= 1
    if said:
        assert said[0].category is UserWarning
        assert Path(said[0].filename) == Path(__file__)  # the line that called `write`
        assert skeleton(again) == skeleton(model)
    else:
        assert same(again, model) or same(again, as_text(model))


@pytest.mark.parametrize("suffix", SUFFIXES)
@loop_over("name", {"each": [name for name in jt.examples() if isinstance(jt.example(name), jt.BayesianNetwork)]})
def test_the_bundled_networks_are_kept(name, suffix, tmp_path):
    model = jt.example(name)
    error, said = written(model, tmp_path / f"{name}{suffix}")
    again = jt.read(tmp_path / f"{name}{suffix}")

    assert error is None
    assert skeleton(again) == skeleton(model)
    assert same(again, model) or same(again, as_text(model)) or len(said) == 1


@pytest.mark.parametrize("ending", [".gz", ".GZ"])
@pytest.mark.parametrize("suffix", [*SUFFIXES, *(suffix.upper() for suffix in SUFFIXES)])
def test_a_file_named_gz_is_compressed_and_says_the_same(suffix, ending, tmp_path):
    plain, packed = tmp_path / f"plain{suffix}", tmp_path / f"packed{suffix}{ending}"
    jt.write(small(suffix), plain)
    jt.write(small(suffix), packed)

    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert same(jt.read(packed), jt.read(plain))
    before = packed.read_bytes()
    jt.write(small(suffix), packed)
    assert packed.read_bytes() == before  # no time of writing inside


# --- rows ------------------------------------------------------------------------------------------------------------


def with_last_number(file_format, number, folder):
    """A file of SMALL in which P(x1=1 | x0=1), 0.375, is another number."""
    text = file_format.writer()(SMALL)
    assert text.count("0.375") == 1
    path = folder / f"rows{file_format.suffixes[0]}"
    path.write_text(text.replace("0.375", number))
    return path


@every_directed_format
@pytest.mark.parametrize("error", [0.0, 9e-10, -9e-10, 2**-40, -(2**-53)])
def test_rows_within_a_billionth_are_kept_bit_for_bit(file_format, error, tmp_path):
    number = 0.375 + error
    model = jt.read(with_last_number(file_format, repr(number), tmp_path))

    assert model.conditionals[1].values.tolist() == [[0.5, 0.5], [0.625, number]]


@every_directed_format
@pytest.mark.parametrize("error", [2e-9, -2e-9, 9e-4, -9e-4])
def test_rows_within_a_thousandth_are_divided_with_one_warning(file_format, error, tmp_path):
    path = with_last_number(file_format, repr(0.375 + error), tmp_path)
    with pytest.warns(RenormalizedWarning) as caught:
        model = jt.read(path)

    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{path}: 1 ")
    assert "the row of 'x1' given x0=1" in str(caught[0].message)
    expected = np.array([[0.5, 0.5], np.array([0.625, 0.375 + error]) / (1 + error)])
    np.testing.assert_allclose(model.conditionals[1].values, expected, rtol=1e-15)
    assert abs(model.conditionals[1].values.sum(axis=-1) - 1).max() < 1e-15


@every_directed_format
def test_one_warning_gives_the_number_of_rows_and_the_worst(file_format, tmp_path):
    path = tmp_path / f"rows{file_format.suffixes[0]}"
    text = file_format.writer()(SMALL)
    path.write_text(text.replace("0.375", "0.3755").replace("0.5", "0.50001", 1).replace("0.25", "0.2502"))
    with pytest.warns(RenormalizedWarning) as caught:
        jt.read(path)

    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{path}: 3 rows")
    assert "'x1' given x0=1, summed to 1.0005" in str(caught[0].message)
    assert Path(caught[0].filename) == Path(__file__)


@every_directed_format
@pytest.mark.parametrize("number", ["0.3764", "0.3736", "0.0", "1.0", "1e300", "5e-324"])
def test_other_rows_are_refused_by_name(file_format, number, tmp_path):
    path = with_last_number(file_format, number, tmp_path)
    with pytest.raises(FormatError, match="the row of 'x1' given x0=1 sums to") as caught:
        jt.read(path)

    assert caught.value.file == str(path)
    assert caught.value.line is not None


# --- files -----------------------------------------------------------------------------------------------------------


@every_format
def test_every_reader_refuses_the_files_of_every_other_format(file_format, tmp_path):
    for other in FORMATS:
        if other is not file_format:
            path = tmp_path / f"{other.name}{file_format.suffixes[0]}"
            path.write_text(other.writer()(small(other.suffixes[0])))
            with pytest.raises(FormatError) as caught:
                jt.read(path)
            assert caught.value.file == str(path)
            assert caught.value.line is not None


@pytest.mark.parametrize(
    "name", ["model", "model.", "model.gz", "model.bof", "model.bif.zip", "bif", ".gz", "model.bif.gz.gz"]
)
def test_an_unknown_suffix_is_refused_before_anything_happens(name, tmp_path):
    with pytest.raises(FormatError, match="belongs to no format"):
        jt.write(SMALL, tmp_path / name)
    with pytest.raises(FormatError, match="belongs to no format"):
        jt.read(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [*SUFFIXES, f"{SUFFIXES[0]}.gz"])
def test_what_the_system_refuses_is_said_as_by_open(suffix, tmp_path):
    missing = tmp_path / f"missing{suffix}"
    with pytest.raises(FileNotFoundError, match="missing"):
        jt.read(missing)
    with pytest.raises(FileNotFoundError):
        jt.write(small(suffix), tmp_path / "no_such_folder" / f"model{suffix}")
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(IsADirectoryError):
        jt.read(folder)
    with pytest.raises(OSError, match="folder"):
        jt.write(small(suffix), folder)
    assert list(tmp_path.iterdir()) == [folder]
    assert not list(folder.iterdir())


@pytest.mark.parametrize("suffix", [*SUFFIXES, f"{SUFFIXES[0]}.gz"])
@pytest.mark.parametrize("old", [None, b"the old content"])
def test_a_file_is_whole_or_absent_after_a_failed_write(suffix, old, tmp_path):
    """The file system takes no more than 40 bytes a file, as a full one would at some byte."""
    path = tmp_path / f"model{suffix}"
    if old is not None:
        path.write_bytes(old)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            jt.write(small(suffix), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert caught.value.errno == errno.EFBIG
    assert [item.read_bytes() for item in tmp_path.iterdir()] == ([] if old is None else [old])


@every_format
def test_a_refused_model_leaves_the_old_file(file_format, tmp_path):
    path = tmp_path / f"model{file_format.suffixes[0]}"
    path.write_bytes(b"the old content")
    with pytest.raises(FormatError) as caught:
        jt.write(object(), path)

    assert caught.value.file == str(path)
    assert path.read_bytes() == b"the old content"
    assert list(tmp_path.iterdir()) == [path]
