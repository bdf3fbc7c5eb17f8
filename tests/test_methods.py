"""The names of `method=`: each that `jt.methods` lists runs, or is refused in a sentence; no other name is taken."""

from __future__ import annotations

import warnings
from contextlib import suppress

import pytest

import juncture as jt
from juncture.errors import TooLarge, Unsupported
from support.model_kinds import KINDS

ASKED = ("infer", "most_probable", "log_prob", "sample")
CASES = [(name, verb) for name in KINDS for verb in ASKED]


def ask(verb, entry, method):
    if verb == "sample":
        given = entry.one if entry.labelled is not None or entry.model.kind.endswith("network") else None
        return jt.sample(entry.model, 3, given=given, method=method, rng=0)
    rows = entry.labelled if verb == "log_prob" and entry.labelled is not None else entry.many
    return getattr(jt, verb)(entry.model, rows, method=method)


@pytest.mark.parametrize(("name", "verb"), CASES)
def test_every_listed_name_runs_or_is_refused_in_a_sentence(name, verb):
    entry = KINDS[name]()
    if not hasattr(entry.model, "kind"):
        pytest.skip("this kind has not the protocol yet")
    names = jt.methods(entry.model).names.get(verb, ())
    ran = []
    for method in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Unsupported, TooLarge):
                ask(verb, entry, method)
                ran.append(method)
    assert not names or names[0] in ran  # that of "auto"


@pytest.mark.parametrize(("name", "verb"), CASES)
def test_no_other_name_is_taken(name, verb):
    entry = KINDS[name]()
    if not hasattr(entry.model, "kind"):
        pytest.skip("this kind has not the protocol yet")
    listed = set(jt.methods(entry.model).names.get(verb, ()))
    every = {other for make in KINDS.values() for names in jt.methods(make().model).names.values() for other in names}
    for method in [*sorted(every - listed), "no such method"]:
        with pytest.raises(Unsupported):
            ask(verb, entry, method)


@pytest.mark.parametrize("name", KINDS)
def test_methods_of_learning(name):
    entry = KINDS[name]()
    if not hasattr(entry.model, "kind"):
        pytest.skip("this kind has not the protocol yet")
    names = jt.methods(entry.model).names["fit"]
    rows = entry.labelled or (jt.sample(entry.model, 20, rng=0) if entry.model.kind.endswith("network") else entry.many)
    for method in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Unsupported, TooLarge):
                jt.fit(entry.model, rows, method=method, max_steps=2)
    with pytest.raises(Unsupported, match=r"known are|did you mean") as caught:
        jt.fit(entry.model, rows, method="no such method")
    assert all(repr(method) in str(caught.value) for method in names)
