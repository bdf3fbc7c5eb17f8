"""An option is written once, in its dataclass: verbs, estimators and documentation read it there."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Iterator

import pytest

from juncture import verbs
from juncture.base.dispatch import what_it_does
from juncture.base.kinds import KINDS, LAID_OUT_BY_LAYER, verb_modules
from juncture.base.options import Options
from juncture.families.family import Family

COMMON = {"prior", "weights", "rng", "progress"}  # what fit has for every kind, beside the model, the data and y


def learned_kinds() -> dict[str, type]:
    """The kinds of model that fit takes; a family is estimated in one way and has no options."""
    for name in (*LAID_OUT_BY_LAYER, *KINDS):
        for module in verb_modules(name):
            importlib.import_module(module)
    registered = verbs.fit.dispatcher.registry
    return {
        kind.__name__: kind for kind in registered if kind.__module__.startswith("juncture.") and kind is not Family
    }


KINDS_LEARNED = learned_kinds()


def all_options(base: type = Options) -> Iterator[type]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("juncture."):
            yield kind
        yield from all_options(kind)


def test_every_kind_is_learned_by_options():
    lacking = [name for name, kind in KINDS_LEARNED.items() if options_of(kind) is None]
    assert not lacking


def options_of(kind: type) -> type[Options] | None:
    return getattr(what_it_does(verbs.fit, kind), "options", None)


def test_options_are_frozen_and_describe_each_field():
    found = list(all_options())
    assert len(found) > len(KINDS_LEARNED) / 3
    for kind in found:
        assert dataclasses.is_dataclass(kind), kind
        assert kind.__dataclass_params__.frozen, kind
        assert set(kind.descriptions()) == set(kind.names()), kind


@pytest.mark.parametrize("name", KINDS_LEARNED)
def test_a_function_of_learning_names_no_option_again(name):
    implementation = what_it_does(verbs.fit, KINDS_LEARNED[name])
    own = list(inspect.signature(inspect.unwrap(implementation)).parameters)
    taken = {part.name for part in options_of(KINDS_LEARNED[name]).parameters()}
    assert own[-1] == "options"
    assert not taken & set(own), (name, taken & set(own))
    assert set(own[2:]) - {"y", "options"} <= COMMON, name


@pytest.mark.parametrize("name", KINDS_LEARNED)
def test_the_overview_lists_what_the_fields_say(name):
    """`jt.methods` and the signature of the verb for a kind: the names and the defaults of the fields."""
    kind = KINDS_LEARNED[name]
    options, listed = options_of(kind), verbs.methods(kind)
    fields = {field.name: field.default for field in dataclasses.fields(options)}
    assert fields.items() <= listed.options["fit"].items()
    assert set(listed.names["fit"]) == ({"auto", *options.methods} if options.methods else set())
    for learner in options.methods.values():
        assert set(learner.names()) <= set(listed.options["fit"])
        assert set(learner.names()) <= set(listed.descriptions["fit"])


def test_estimators_read_the_fields():
    """A parameter of a scikit-learn class that an option has is the option's, with its default but for those said."""
    pytest.importorskip("sklearn")
    from juncture import estimators
    from juncture.estimators.shell import WORDS

    shells = [getattr(estimators, name) for name in estimators.__all__ if hasattr(getattr(estimators, name), "_reads")]
    assert shells
    for shell in shells:
        parameters = inspect.signature(shell).parameters
        for kind, without, defaults in shell._reads:
            for field in dataclasses.fields(kind):
                if field.name not in without:
                    word = WORDS.get(field.name, field.name)
                    assert parameters[word].default == defaults.get(field.name, field.default), (shell, word)
