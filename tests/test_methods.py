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
    listed = set(jt.methods(entry.model).names.get(verb, ()))
    every = {other for make in KINDS.values() for names in jt.methods(make().model).names.values() for other in names}
    for method in [*sorted(every - listed), "no such method"]:
        with pytest.raises(Unsupported):
            ask(verb, entry, method)


@pytest.mark.parametrize("name", KINDS)
def test_methods_of_learning(name):
    entry = KINDS[name]()
    if not entry.is_learned:
        with pytest.raises(Unsupported, match="fit takes one of"):
            jt.fit(entry.model, entry.labelled)
        return
    if not entry.can_be_learned:
        pytest.skip(f"needs {', '.join(entry.needs)}")
    listed = jt.methods(entry.model)
    names, short = listed.names["fit"], {"max_steps": 2} if "max_steps" in listed.options["fit"] else {}
    given = {**short, **{name: option for name, option in entry.learner.items() if name != "method"}}
    rows = entry.labelled or (
        jt.sample(entry.model, 20, rng=0) if entry.sampled is jt.Dataset and entry.answers("sample") else entry.many
    )
    for method in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(Unsupported, TooLarge):
                jt.fit(entry.model, rows, method=method, **given)
    with pytest.raises(Unsupported, match=r"known are|did you mean") as caught:
        jt.fit(entry.model, rows, method="no such method")
    assert all(repr(method) in str(caught.value) for method in names)
