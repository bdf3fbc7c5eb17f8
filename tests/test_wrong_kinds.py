"""Every public callable, given objects of wrong kinds: it works, or refuses in a sentence that was written on purpose.

The ordinary run gives each parameter one object, always the same. `make fuzz` gives each parameter all of them.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import cache, partial
from inspect import signature
from random import Random

import matplotlib.pyplot as plt
import pytest

import juncture as jt
from support.bounded import bounded
from support.model_kinds import KINDS
from support.wrong_objects import WRONG, leak_of

NO_STATISTICS = ("BetaBinomial", "BetaNegativeBinomial", "DirichletMultinomial", "MultivariateStudentT")
SECONDS = 20  # of processor time for one call; compiling kernels is among it


@cache
def all_calls():
    """Their examples are fitted models by the hundred: they are made when a test asks for them, not by collecting."""
    from support.public_calls import public_calls

    return public_calls()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some wrong objects are names of files
    yield
    plt.close("all")  # of `plot` without axes
    jt.set_num_threads(None)
    jt.set_compilation(None)


NET, ROWS = jt.example("fuel"), {"a": [0, 1, 1, 0] * 3, "b": [0, 1, 0, 0] * 3, "c": [1, 1, 0, 0] * 3}
HMM = jt.HiddenMarkovModel([1.0], [[1.0]], [[1.0]])


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: jt.compile(HMM), jt.errors.Unsupported, "takes a network or a factor graph; got HiddenMarkovModel"),
        (
            lambda: jt.messages.GaussianElimination().compile(jt.Gaussian),
            jt.errors.Unsupported,
            "takes a network or a factor graph",
        ),
        (
            lambda: jt.information.edge_information(jt.Mixture([1.0], jt.Gaussian([0.0], 1.0))),
            jt.errors.Unsupported,
            "got Mixture",
        ),
        (lambda: jt.do(NET, True), jt.errors.InvalidData, "must be a mapping, such as a dict; got True"),
        (
            lambda: jt.Dataset(ROWS).take([0.0]),
            jt.errors.InvalidData,
            r"rows are selected by a slice, by whole numbers from -12 to 11",
        ),
        (
            lambda: jt.structure.independence_test(ROWS, "a", "b", test=3),
            jt.errors.Unsupported,
            "an object such as jt.structure.GSquaredTest",
        ),
        (
            lambda: jt.learn_structure(ROWS, "pc", test=lambda *_: 1),
            jt.errors.Unsupported,
            "an object such as jt.structure.GSquaredTest",
        ),
        (lambda: jt.infer(NET, method=3), jt.errors.Unsupported, "the name of an engine or an engine itself; got 3"),
        (lambda: jt.infer(NET, method=[3] * 10**6), jt.errors.Unsupported, r"got \[3, 3, .*, \.\.\.\]"),
    ],
)
def test_what_is_asked_of_the_wrong_kind(ask, error, words):
    with pytest.raises(error, match=words) as caught:
        ask()
    assert len(str(caught.value)) < 300


def test_a_tiny_error_needs_many_samples():
    """The square of 1e-200 is no double; the number of samples is exact all the same."""
    needed = jt.information.samples_needed(1.0, 1e-200, 0.05)
    assert abs(Fraction(needed, 20 * 10**400) - 1) < Fraction(1, 10**11)


@pytest.mark.parametrize("model", [jt.FactorGraph([]), jt.BayesianNetwork([]), jt.FactorGraph([jt.Factor([], 2.0)])])
@pytest.mark.parametrize("method", ["junction-tree", "variable-elimination", "enumeration"])
def test_a_model_without_variables_has_one_assignment(model, method):
    best = jt.most_probable(model, method=method)
    assert (best.assignment, best.log_prob) == ({}, 0.0)
    assert best.log_joint == pytest.approx(sum(float(factor.log_values) for factor in model.factors))
    assert len(jt.most_probable(model, method=method, k=3)) == 1
    assert jt.most_probable(model, [{}, {}], method=method).log_prob.tolist() == [0.0, 0.0]


def test_every_public_class_is_constructed_or_has_an_instance():
    from support.public_arguments import INSTANCES
    from support.public_calls import ANSWERS
    from support.public_names import public_things

    classes = [public for public in public_things() if isinstance(public.thing, type)]
    named = {call.name for call in all_calls()}
    for namespace, name, kind in classes:
        if not issubclass(kind, BaseException) and kind is not jt.results.AnyConditional:
            assert name in named or name in ANSWERS
            if namespace != "evaluation":  # whose answers are numbers with names, asked in tests of their own
                assert name in named or name in INSTANCES, f"public_arguments has no {name}"


def test_every_public_callable_takes_its_example():
    """Or says that what is asked does not exist for this kind; else the fuzz would prove little."""
    refused = []
    for call in all_calls():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call.run()
            except jt.errors.Unsupported:
                continue
            except jt.JunctureError as error:
                if call.name.removesuffix(".estimate") not in NO_STATISTICS:
                    refused.append(f"{call.name}({dict(call.arguments)}): {error}")
    assert not refused, "\n".join(refused)


def leaks(per_parameter):
    """What leaks where each parameter is given so many of the wrong objects, in turn."""
    chance, found = Random(0), []
    for call in all_calls():
        for parameter in call.replaceable:
            for name in chance.sample(list(WRONG), per_parameter):
                with bounded(SECONDS):
                    found.append(leak_of(call, parameter, name))
    return [leak for leak in found if leak is not None]


def test_wrong_kinds_are_refused_in_a_sentence():
    found = leaks(1)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_model_refuses_wrong_evidence_in_a_sentence(name):
    from support.public_calls import Call

    kind, found = KINDS[name](), []
    verbs = {"infer": jt.infer, "log_prob": jt.log_prob, **({"fit": jt.fit} if kind.can_be_learned else {})}
    given = signature(lambda given: given)
    for verb, ask in verbs.items():
        structure = kind.learned or kind.model if ask is jt.fit else kind.model
        call = Call(f"{verb} of a {name}", partial(ask, structure), given, {})
        for wrong in WRONG:
            with bounded(SECONDS):
                found.append(leak_of(call, "given", wrong))
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.fuzz
def test_all_wrong_kinds_are_refused_in_a_sentence():
    found = leaks(len(WRONG))
    assert not found, "\n".join(found)
