"""`Options`, the arguments of learners and engines; and options that users give as names, seeds or sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from inspect import Parameter, cleandoc
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_iterable, check_kind, shown
from juncture.errors import InvalidData, Unsupported, hint
from juncture.names import public_path

MAX_DRAWS = 2**62  # the largest size of an array


class Options:
    """The base of frozen dataclasses that are the arguments of a learner or an engine.

    A field is an argument: its name, its default, and a paragraph under "Parameters" in the docstring stand there and
    nowhere else. `__post_init__` checks the values. Verbs, estimators, commands and the documentation read the fields.

    Options of what a verb does with a kind of model have a field `method` where there are several ways, or one with
    options of its own: `methods` has the learner of each name, that of "auto" first. An option of the learner may be
    given beside the others: `max_steps=50` stands for `method=jt.Newton(max_steps=50)`.
    """

    methods: ClassVar[Mapping[str, type[Options]]] = {}
    task: ClassVar[str] = "learning"  # what the methods are methods of

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the options."""
        return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """The options as parameters of a function that are given by name, those of the learners after them."""
        found: dict[str, Any] = {}
        kinds: list[Any] = [*reversed(tuple(cls.methods.values())), cls]  # the first learner is that of "auto"
        for kind in kinds:
            found |= {field.name: field.default for field in (fields(kind) if is_dataclass(kind) else ())}
        own = cls.names()
        order = [*own, *(name for name in found if name not in own)]
        return [Parameter(name, Parameter.KEYWORD_ONLY, default=found[name]) for name in order]

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """Name → what the docstring says of the option."""
        found: dict[str, str] = {}
        for kind in reversed(cls.__mro__):
            found |= parameter_texts(kind.__doc__ or "")
        return {name: found[name] for name in cls.names() if name in found}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The options that were given by name; what the learner has goes to it."""
        own = cls.names()
        made = cls(**{name: value for name, value in given.items() if name in own})
        return made.with_learner({name: value for name, value in given.items() if name not in own})

    def with_learner(self, given: Mapping[str, Any]) -> Self:
        """The same options with the learner in place of its name, which has these options."""
        if not self.methods:
            return self
        method = getattr(self, "method", "auto")
        learner = resolve_learner(method, self.methods, self.task)
        unknown = [name for name in given if name not in learner.names()]
        if unknown:
            raise Unsupported(
                f"{type(learner).__name__} has no option {unknown[0]!r}; {hint(unknown[0], learner.names())}"
            )
        return replace(self, method=replace(learner, **given) if given else learner)  # type: ignore[type-var]


def resolve_learner(method: Any, methods: Mapping[str, type[Options]], task: str = "learning") -> Any:
    """The learner that a name, its class or itself stands for; "auto" is the first."""
    known = {"auto": next(iter(methods.values())), **methods}
    found = resolve(method, known, what=f"method of {task}")
    if not isinstance(found, tuple(methods.values())):
        names = [public_path(kind.__name__) for kind in dict.fromkeys(methods.values()) if kind.names()]
        raise Unsupported(
            f"a method of {task} is a name, here {', '.join(map(repr, known))}{', or ' * bool(names)}"
            f"{' or '.join(names)}; got {shown(method)}"
        )
    return found


def parameter_texts(docstring: str) -> dict[str, str]:
    """Name → text of the parameters in a docstring."""
    _, _, section = cleandoc(docstring).partition("Parameters\n----------\n")
    section = re.split(r"\n\n?[A-Z]\w*\n-{3,}\n", section)[0]
    found: dict[str, str] = {}
    for head, body in re.findall(r"^(\S[^\n]*)\n((?:[ \t]+[^\n]*\n?|\n)+)", section, re.MULTILINE):
        text = " ".join(body.split())
        found |= dict.fromkeys(head.split(", "), text)
    return found


def resolve(choice: Any, known: Mapping[str, Callable[[], Any]], *, what: str) -> Any:
    """The object that a choice stands for: a name is looked up, a class is called, any other object is returned.

    >>> resolve("plain", {"plain": dict}, what="method")
    {}
    """
    if isinstance(choice, type):
        return choice()
    if choice is None:
        raise Unsupported(f"a {what} is a name or an object; got None; {hint('auto', known)}")
    if not isinstance(choice, str):
        return choice
    if choice not in known:
        raise Unsupported(f"there is no {what} {choice!r}; {hint(choice, known)}")
    return known[choice]()


class ImportedTable(Mapping[str, Any]):
    """A table from names to classes or functions, which are imported when they are looked up.

    A place is a module of this package and a name in it.

    >>> ImportedTable({"plain": "base.options:as_names"})["plain"].__name__
    'as_names'
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.places[name].partition(":")
        return getattr(import_module(f"juncture.{module}"), attribute)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def only(self, *names: str) -> ImportedTable:
        """The part of the table with these names."""
        return ImportedTable({name: self.places[name] for name in names})

    def __or__(self, other: ImportedTable) -> ImportedTable:
        return ImportedTable({**self.places, **other.places})


def as_names(names: Iterable[str], what: str) -> list[str]:
    """The names of an option that takes several; a text alone would be read letter by letter."""
    if isinstance(names, str):
        raise InvalidData(f"{what} is a list of names; write {what}=[{names!r}]")
    return check_iterable(names, what)


def as_variable_names(names: Iterable[str], what: str) -> list[str]:
    """The names of variables; what is no text is refused."""
    listed = as_names(names, what)
    return listed if all(type(name) is str for name in listed) else check_names(listed, what)


def as_generator(rng: Any) -> np.random.Generator:
    """A generator from a seed, or the generator itself."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"rng is a seed or a numpy.random.Generator; got {rng!r}") from error


def as_seed(rng: Any) -> int:
    """A seed: the one that is given, one drawn from a generator, or a fresh one; it repeats what is drawn with it."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        as_generator(rng)  # which refuses negative numbers
        return int(rng)
    return int(as_generator(rng).integers(2**63))


def used_seed(seed: int, generator: np.random.Generator) -> int | None:
    """The seed, if something was drawn from the generator that was made of it; None if nothing was."""
    fresh = as_generator(seed).bit_generator
    used: Any = generator.bit_generator
    return None if used.state == fresh.state and not used.seed_seq.n_children_spawned else seed


def as_sizes(size: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of so many draws: (10,) for 10, () without a size."""
    try:
        lengths = np.atleast_1d(np.asarray(() if size is None else size))
    except ValueError:  # a ragged list
        lengths = np.empty((0, 0))
    is_numbers = lengths.ndim == 1 and lengths.dtype.kind in "iuf" and bool((np.abs(lengths) <= MAX_DRAWS).all())
    if not is_numbers or not ((lengths >= 0) & (lengths == np.floor(lengths))).all():
        raise InvalidData(f"the number of draws must be a whole number of at least 0; got {shown(size)}")
    return tuple(lengths.astype(int).tolist())


def check_names(names: Iterable[str], what: str) -> list[str]:
    """The names of an option that takes several, each a str."""
    return [check_kind(name, str, f"a name in {what}") for name in as_names(names, what)]
