"""Every public callable, given objects of wrong kinds: it works, or refuses in a sentence that was written on purpose.

The ordinary run gives each parameter a few objects, always the same. `make fuzz` gives each parameter all of them.
"""

from __future__ import annotations

import warnings
from random import Random

import pytest

import juncture as jt
from support.bounded import bounded
from support.public_arguments import INSTANCES
from support.public_calls import ANSWERS, public_calls
from support.wrong_objects import WRONG, leak_of

NO_STATISTICS = ("BetaBinomial", "BetaNegativeBinomial", "DirichletMultinomial", "MultivariateStudentT")
SECONDS = 20  # of processor time for one call; compiling kernels is among it
CALLS = public_calls()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some wrong objects are names of files


def test_every_public_class_is_constructed_or_has_an_instance():
    classes = [kind for name in jt.__all__ if isinstance(kind := getattr(jt, name), type)]
    named = {call.name for call in CALLS}
    for kind in classes:
        if not issubclass(kind, BaseException) and kind is not jt.AnyConditional:
            assert kind.__name__ in named or kind.__name__ in INSTANCES, f"public_arguments has no {kind.__name__}"
            assert kind.__name__ in named or kind.__name__ in ANSWERS


def test_every_public_callable_takes_its_example():
    """Or says that what is asked does not exist for this kind; else the fuzz would prove little."""
    refused = []
    for call in CALLS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call.run()
            except jt.Unsupported:
                continue
            except jt.JunctureError as error:
                if call.name.removesuffix(".estimate") not in NO_STATISTICS:
                    refused.append(f"{call.name}({dict(call.arguments)}): {error}")
    assert not refused, "\n".join(refused)


def leaks(per_parameter):
    """What leaks where each parameter is given so many of the wrong objects, in turn."""
    chance, found = Random(0), []
    for call in CALLS:
        for parameter in call.replaceable:
            for name in chance.sample(list(WRONG), per_parameter):
                with bounded(SECONDS):
                    found.append(leak_of(call, parameter, name))
    return [leak for leak in found if leak is not None]


def test_wrong_kinds_are_refused_in_a_sentence():
    found = leaks(2)
    assert not found, "\n".join(found)


@pytest.mark.fuzz
def test_all_wrong_kinds_are_refused_in_a_sentence():
    found = leaks(len(WRONG))
    assert not found, "\n".join(found)
