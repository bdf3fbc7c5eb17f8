"""`lazy_dispatch`: dispatch on the class of a model; implementations are imported when the first such model comes.

A public call begins here: a verb, or another function under `one_path`. It predicts its operations and chooses whether
its kernels run interpreted or compiled; what it calls takes the same path, public functions and threads too.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial, singledispatch, wraps
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

from juncture.base.compilation import PATH, SMALL_WORK, WORK_TO_COMPILE, choose_path, is_automatic, on_path
from juncture.base.kinds import why_unanswered
from juncture.base.options import Options
from juncture.base.values import Value
from juncture.errors import Unsupported, hint

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Modules = Callable[[str], Sequence[str] | None]  # class → the modules that register implementations for it


class Dispatched(Protocol[P, R_co]):
    """A verb with one implementation for each kind of model."""

    def __call__(self, *arguments: P.args, **options: P.kwargs) -> R_co: ...
    def register(self, kind: type, implementation: Callable[..., Any]) -> Any: ...


def lazy_dispatch(modules_of: Modules) -> Callable[[Callable[P, R_co]], Dispatched[P, R_co]]:
    """A `singledispatch` on the class of the first argument that imports the modules of a class to find its own.

    Options that a kind of model does not have are refused in a sentence. The first argument may be given by name.
    """

    def decorate(verb: Callable[P, R_co]) -> Dispatched[P, R_co]:
        dispatcher: Any = singledispatch(verb)
        first, required = first_and_required(verb)

        @wraps(dispatcher)
        def call(*arguments: Any, **options: Any) -> Any:
            if not arguments:
                if first not in options:
                    raise Unsupported(f"{verb.__name__} takes a {first} as its first argument")
                arguments = (options.pop(first),)
            if PATH.get() is None and is_automatic():
                with on_path(choose_path(partial(predict_operations, verb.__name__, arguments, options))):
                    return call(*arguments, **options)
            implementation = find_implementation(dispatcher, arguments[0], modules_of)
            if implementation is verb:
                return dispatcher.__wrapped__(arguments[0], *required)  # which says what it takes
            try:
                return implementation(*arguments, **options)
            except TypeError:
                complaint = signature_mismatch(verb.__name__, implementation, arguments, options)
                if complaint is None:
                    raise
                raise Unsupported(complaint) from None

        call.dispatcher, call.modules_of = dispatcher, modules_of  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def what_it_does(verb: Any, kind: type) -> Callable[..., Any] | None:
    """The implementation of a verb for a kind of model; None if there is none."""
    found = load_implementation(verb.dispatcher, kind, verb.modules_of)
    return None if found is verb.dispatcher.dispatch(object) else found


def one_path(function: Callable[P, R_co]) -> Callable[P, R_co]:
    """Let all kernels of a public function that is no verb take one path, that of the call around it if any."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R_co:
        if PATH.get() is not None or not is_automatic():
            return function(*arguments, **options)
        with on_path(choose_path(partial(predict_from_numbers, arguments, options))):
            return function(*arguments, **options)

    return call


def register(
    verb: Any,
    kind: type,
    implementation: Callable[..., Any],
    options: type[Options] | None = None,
    *,
    takes_class: bool = False,
) -> None:
    """Let a verb do this with models of this kind; type checkers see verbs as plain functions.

    An implementation with `options` is given these as its last argument, made of what the user gives by name.
    `takes_class`: it is also given the class in place of a model, where the data imply the structure.
    """
    if options is not None:
        implementation = with_options(implementation, options)
    if takes_class:
        implementation.takes_class = True  # type: ignore[attr-defined]
    verb.register(kind, implementation)


def with_options(implementation: Callable[..., Any], options: type[Options]) -> Callable[..., Any]:
    """A function whose options are arguments by name."""
    own = list(inspect.signature(implementation).parameters.values())
    given_as_options = {part.name for part in options.parameters()}
    *first, last = own
    by_position = [part for part in first if part.kind is part.POSITIONAL_OR_KEYWORD]
    by_name = [part for part in first if part.kind is part.KEYWORD_ONLY]
    signature = inspect.Signature([*by_position, *by_name, *options.parameters()])

    @wraps(implementation)
    def call(*arguments: Any, **given: Any) -> Any:
        if len(arguments) > len(by_position):
            signature.bind(*arguments, **given)  # which raises
        chosen = {name: given.pop(name) for name in list(given) if name in given_as_options}
        return implementation(*arguments, **given, **{last.name: options.of(chosen)})

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.options = options  # type: ignore[attr-defined]
    return call


def first_and_required(verb: Callable[..., Any]) -> tuple[str, tuple[None, ...]]:
    """The name of the first argument, and a None for each further one that has no default."""
    first, *others = inspect.signature(verb).parameters.values()
    required = [part for part in others if part.default is part.empty and part.kind is part.POSITIONAL_OR_KEYWORD]
    return first.name, (None,) * len(required)


def find_implementation(dispatcher: Any, model: object, modules_of: Modules) -> Any:
    """What a verb does with a model, or with a class in place of one if it takes classes; else the verb itself."""
    if not isinstance(model, type):
        return load_implementation(dispatcher, type(model), modules_of)
    found = load_implementation(dispatcher, model, modules_of)
    return found if getattr(found, "takes_class", False) else dispatcher.dispatch(object)


def load_implementation(dispatcher: Any, kind: type, modules_of: Modules) -> Any:
    """What a verb does with this kind of model, imported where that is needed; the verb itself if there is nothing."""
    nothing, known = dispatcher.dispatch(object), dispatcher.dispatch(kind)
    if known is not nothing:
        return known
    for base in kind.__mro__:
        for module in modules_of(base.__name__) or ():
            import_module(module)
            if dispatcher.dispatch(kind) is not nothing:
                return dispatcher.dispatch(kind)
    return nothing


def signature_mismatch(
    name: str, implementation: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> str | None:
    """One sentence if a verb cannot be called like this for this kind of model; None if the call fits."""
    signature = inspect.signature(implementation)
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        what = f"{name} of a {name_of_kind(arguments[0])}"
        known = list(signature.parameters)[1:]
        unknown = [option for option in options if option not in known]
        if unknown:
            return f"{what} has no option {unknown[0]!r}; {hint(unknown[0], known)}"
        is_prior = name == "fit" and len(arguments) > 2 and "prior" in known
        return f"{what}: {error}{'; a prior is given by name, prior=…' if is_prior else ''}"
    return None


def name_of_kind(model: object) -> str:
    """The name of the class of a model, or of a class that stands for its kind."""
    return model.__name__ if isinstance(model, type) else type(model).__name__


def refuse_model(verb: str, model: object) -> Unsupported:
    """The error of a verb that does not take this object, with another way where there is one."""
    name = type(model).__name__
    reason = why_unanswered(type(model), verb)
    if reason is not None:
        return Unsupported(reason)
    if isinstance(model, type) or not (hasattr(model, "with_policy") or hasattr(model, "predict")):
        return Unsupported(f"{verb} takes a model; got {name}")
    if hasattr(model, "with_policy"):
        way = "its decisions are open: take model.with_policy(jt.optimal_policy(model)), a Bayesian network"
    else:
        way = "it predicts a target and is no joint distribution: ask it with predict"
    return Unsupported(f"{verb} does not take a {name}; {way}")


# --- predicted operations --------------------------------------------------------------------------------------------

UNKNOWN = float("inf")  # rows that are not counted without reading them: files, queries and sources
WORK_OF_A_NUMBER = 100  # operations, where nothing is known about a function but the numbers that it is given
NODE_PAIR = 10  # operations of planning for each pair of variables of a network
EACH_CELL = 4  # how often a table of a clique is passed: two messages, the beliefs, evidence
STEPS = {"fit": 10}  # passes over the rows
MANY = 10_000  # members of a list that are not looked at one by one
DRAWS = 1000  # of a sampler or steps of another method that is named, at least
PASSES = ("draws", "max_steps")  # the options of engines that say how often they pass their model
EXACT = {"auto", "exact", "junction-tree", "variable-elimination", "forward-backward", "viterbi", "kalman", "em"}


def predict_operations(verb: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> float:
    """About how many steps the loops of a verb take: those of a row of this model, for each row, in each pass."""
    model, *others = arguments
    others += [options[name] for name in ("evidence", "data", "rows", "n", "given") if name in options]
    rows = max((count_rows(data, is_number_of_rows=verb == "sample") for data in others), default=1.0)
    method = options.get("method", "auto")
    once, each = work_of_model(model)
    if verb not in STEPS and not (isinstance(method, str) and method in EXACT):
        each = min(each, count_numbers(model))  # other methods pass the tables of the model, not those of cliques
    return once + each * rows * count_passes(verb, method)


def count_passes(verb: str, method: Any) -> float:
    """How often a verb passes a row: the steps of learning, the draws or steps of a method that is not exact."""
    if verb in STEPS:
        return STEPS[verb]
    if isinstance(method, str):
        return 1 if method in EXACT else DRAWS
    return float(next((n for n in (getattr(method, name, None) for name in PASSES) if isinstance(n, int)), 1))


def predict_from_numbers(arguments: Sequence[Any], options: Mapping[str, Any]) -> float:
    """About how many steps the loops of a function take of which nothing is known but what it is given."""
    given = [*arguments, *options.values()]
    return UNKNOWN if any(map(must_be_read, given)) else WORK_OF_A_NUMBER * sum(map(count_numbers, given))


def must_be_read(value: Any) -> bool:
    """Whether a value stands for rows that are not in memory: files, a source, or a query of another library."""
    if isinstance(value, list | tuple) and value:
        return isinstance(value[0], str | os.PathLike) and must_be_read(value[0])
    if isinstance(value, str):  # no name of a method has such marks
        return any(mark in value for mark in "./\\*") or Path(value).exists()
    if isinstance(value, os.PathLike) or hasattr(value, "blocks"):
        return True
    is_foreign = type(value).__module__.partition(".")[0] not in {"builtins", "juncture", "numpy"}
    return is_foreign and not callable(value) and not has_sizes(value)


def work_of_model(model: object) -> tuple[float, float]:
    """The operations of planning, and those of a row; kept with the model."""
    if not isinstance(model, Value):
        return 0.0, count_numbers(model)
    kept = model.derived
    if "operations" not in kept:
        parts = getattr(model, "conditionals", None) or getattr(model, "factors", None)
        if isinstance(parts, tuple) and all(hasattr(part, "scope") for part in parts):
            kept["operations"] = work_of_network([part.scope for part in parts])
        else:
            kept["operations"] = 0.0, count_numbers(model)
    return kept["operations"]


def work_of_network(scopes: Sequence[Any]) -> tuple[float, float]:
    """The operations of planning a network, and those of passing the tables of its cliques."""
    sizes = {variable.name: len(variable.states or (0, 0)) for scope in scopes for variable in scope}
    planning = NODE_PAIR * float(len(sizes)) ** 2
    if planning > SMALL_WORK:
        return planning, EACH_CELL * float(len(sizes))
    neighbors = {name: {one.name for scope in scopes if name in scope.names for one in scope} for name in sizes}
    cells = 0.0
    while neighbors and cells < WORK_TO_COMPILE:  # in the order of fewest neighbors, as a rough plan
        name = min(neighbors, key=lambda name: len(neighbors[name]))
        clique = neighbors.pop(name)
        cells += prod(sizes[one] for one in clique)
        for one in clique - {name}:
            neighbors[one] = (neighbors[one] | clique) - {name}
    return planning, EACH_CELL * cells


def count_rows(data: Any, *, is_number_of_rows: bool = False) -> float:
    """The number of rows or steps in data of a user; `UNKNOWN` where they would have to be read."""
    if is_number_of_rows:
        numbers = data if isinstance(data, list | tuple) else [data]
        return float(sum(number for number in numbers if isinstance(number, int | np.integer)))
    if data is None or isinstance(data, float | int | np.number):
        return 1.0
    if isinstance(data, Mapping):
        return max((count_cells(column) for column in data.values()), default=1.0)
    if isinstance(data, list | tuple):
        return float(sum(count_cells(row) for row in data)) if len(data) < MANY else UNKNOWN
    if isinstance(data, Value):
        return float(data.__dict__.get("num_rows") or count_numbers(data))
    shape = getattr(data, "shape", None)
    return float(shape[0]) if isinstance(shape, tuple) and shape and isinstance(shape[0], int) else UNKNOWN


def count_cells(column: Any) -> float:
    """The length of a column or of a sequence; a cell or a row is one."""
    is_long = isinstance(column, list | tuple) or bool(getattr(column, "shape", None))
    return float(len(column)) if is_long else 1.0


def count_numbers(value: Any) -> float:
    """How many numbers a value of any kind is made of."""
    if isinstance(value, np.ndarray):
        return float(value.size)
    if isinstance(value, Value):
        return sum(count_numbers(value.__dict__.get(name)) for name in value._fields)
    if isinstance(value, Mapping):
        return sum(count_numbers(part) for part in value.values())
    if isinstance(value, list | tuple):
        return sum(count_numbers(part) for part in value) if len(value) < MANY else float(len(value))
    return float(prod(value.shape)) if has_sizes(value) else 1.0


def has_sizes(value: Any) -> bool:
    """Whether a value is an array, or a frame in memory."""
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and all(isinstance(one, int) for one in shape)
