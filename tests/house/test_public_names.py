"""Every public name has one place, which the table in `juncture/names.py` says."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

import juncture as jt
from house.write_stubs import files, import_line, stub_path
from juncture.base.kinds import KINDS
from juncture.base.options import Options
from juncture.base.other_names import OTHER_NAMES
from juncture.base.values import Value
from juncture.names import FLAT, NAMES, find_meant, names_in, namespaces, path_of, plain_text
from support.loops import loop_over
from support.public_names import face_of, public_names

MOST_FLAT = 165
RESERVED = {"causal"}  # namespaces that are to come


def test_few_names_are_flat():
    assert len(dir(jt)) <= MOST_FLAT
    assert not RESERVED & {*dir(jt), *namespaces()}


@loop_over("namespace", {"every namespace": list(NAMES)})
def test_a_face_shows_its_names_and_nothing_else(namespace):
    face = face_of(namespace)
    known = {*names_in(namespace), *(namespaces() if namespace == FLAT else [])}
    assert dir(face) == sorted(known)
    assert set(face.__all__) == known
    assert all(name in face.__doc__ for name in known)


def test_no_name_is_listed_twice_in_a_namespace():
    for groups in NAMES.values():
        names = " ".join(text for modules in groups.values() for text in modules.values()).split()
        assert len(names) == len(set(names))


@loop_over("public", {"every name": public_names()})
def test_a_name_is_defined_where_the_table_says(public):
    """A class or function knows its module, and has no other name; data, such as a type, is in the module."""
    home = names_in(public.namespace)[public.name]
    assert vars(sys.modules[f"juncture.{home}"])[public.name] is public.thing
    if inspect.isclass(public.thing) or inspect.isfunction(public.thing):
        assert (public.thing.__module__, public.thing.__name__) == (f"juncture.{home}", public.name)


def test_no_name_stands_for_two_things():
    """But for the classes of scikit-learn; the errors that `jt` holds are those of `jt.errors`."""
    found: dict[str, tuple[str, object]] = {}
    for public in public_names():
        if public.namespace != "estimators":
            namespace, thing = found.setdefault(public.name, (public.namespace, public.thing))
            assert thing is public.thing
            assert namespace == public.namespace or {namespace, public.namespace} == {FLAT, "errors"}
    assert not {*found} & {*namespaces()}


def test_a_class_of_scikit_learn_bears_the_name_of_the_kind_that_it_wraps():
    """Or that of the learner that it wraps, or a name of its own."""
    others = {public.name: public for public in public_names() if public.namespace != "estimators"}
    same = [others[name] for name in names_in("estimators") if name in others]
    wrapped = [public.name in KINDS or issubclass(public.thing, Value | Options) for public in same]
    assert [public.path for public, is_wrapped in zip(same, wrapped, strict=True) if not is_wrapped] == []
    assert {public.namespace for public in same} <= {FLAT, "supervised"}


def test_no_submodule_hides_a_name():
    """Importing `juncture.clusters.x` sets `x` in `juncture.clusters`."""
    for namespace in namespaces():
        folder = Path(jt.__file__).parent / namespace
        modules = {path.stem for path in folder.iterdir()} if folder.is_dir() else set()
        assert not modules & {*names_in(namespace)}


@loop_over("path", {"every file": list(files())})
def test_the_files_that_follow_from_the_table_are_current(path):
    assert path.read_text(encoding="utf-8") == files()[path], "make stubs writes it anew"


def test_type_checkers_see_every_name():
    for namespace in namespaces():
        if namespace != "errors":
            tree = ast.parse(stub_path(namespace).read_text(encoding="utf-8"))
            found = {alias.asname: node.module for node in tree.body for alias in node.names}
            assert found == {name: f"juncture.{home}" for name, home in names_in(namespace).items()}
    assert "\n    a as a,\n" in import_line("juncture." + "x" * 120, "a")


@pytest.mark.parametrize(
    ("face", "name", "meant"),
    [
        ("", "entropy", "jt.information.entropy"),
        ("", "entropyy", "jt.information.entropy"),
        ("", "infr", "jt.infer"),
        ("", "informations", "jt.information"),
        ("", "plot_density", "jt.plots.density"),
        ("", "structure_score", "jt.structure.score"),
        ("", "FactorAnalisis", "jt.FactorAnalysis"),
        ("families", "Gausian", "jt.Gaussian"),
        ("information", "enropy", "jt.information.entropy"),
        ("results", "trace", "jt.plots.trace"),
        ("results", "Trac", "jt.results.Trace"),
        ("errors", "InvalidDate", "jt.errors.InvalidData"),
        ("estimators", "NaiveBays", "jt.estimators.NaiveBayes"),
        ("", "NaiveBayes", "jt.estimators.NaiveBayes"),
        ("", "load", "jt.read"),
        ("", "loadBN", "jt.read"),
        ("", "load_bn", "jt.read"),
        ("", "save", "jt.write"),
        ("", "query", "jt.infer"),
        ("", "predict", "jt.infer or jt.most_probable"),
        ("", "LogisticRegression", "jt.supervised.LogisticRegression or jt.estimators.LogisticRegression"),
        ("estimators", "GaussianNB", "jt.estimators.NaiveBayes"),
    ],
)
def test_a_misspelt_or_moved_name_gets_help(face, name, meant):
    module = path_of("", face).replace("jt", "juncture").rstrip(".")
    with pytest.raises(AttributeError) as refused:
        getattr(face_of(face), name)
    assert str(refused.value) == f"module {module!r} has no attribute {name!r}: did you mean {meant}?"
    assert not hasattr(face_of(face), name)


def test_every_name_of_another_library_leads_to_names_that_exist():
    known = {path_of(namespace, name) for namespace in NAMES for name in (*names_in(namespace), "")}
    others = [(meant.split(), plain_text(name)) for meant, names in OTHER_NAMES.items() for name in names.split()]
    assert len({name for _, name in others}) == len(others)
    flat = {plain_text(name) for name in dir(jt)}
    for meant, name in others:
        assert name not in flat, "jt has the name itself"
        assert find_meant(FLAT, name)[: len(meant)] == meant
        for path in meant:
            assert path in known or attrgetter(path.removeprefix("jt."))(jt), path


def test_a_name_like_no_other_is_refused_plainly():
    for name in ("qqqqqq", "__informations__"):
        with pytest.raises(AttributeError) as refused:
            getattr(jt, name)
        assert str(refused.value) == f"module 'juncture' has no attribute {name!r}"


def test_python_adds_no_hint_of_its_own():
    code = "import juncture as jt; jt.entropyy"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.strip().endswith("has no attribute 'entropyy': did you mean jt.information.entropy?")


def test_a_face_reads_well_in_help():
    text = jt.information.__doc__
    assert text.startswith("Information theory: entropies, divergences")
    assert "\n\nDivergences:\n    kl_divergence, redundancy, " in text
    assert "\n\nNamespaces:\n    clusters, errors, " in jt.__doc__


def test_estimators_name_their_extra_where_scikit_learn_is_missing():
    code = (
        "import sys; sys.modules['sklearn'] = None; import juncture as jt\n"
        "assert 'NaiveBayes' in dir(jt.estimators)\n"
        "try:\n    jt.estimators.NaiveBayes\nexcept jt.errors.MissingExtra as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'juncture[sklearn]'" in run.stdout
