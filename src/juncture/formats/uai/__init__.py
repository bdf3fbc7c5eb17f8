"""UAI model files (Uncertainty in Artificial Intelligence, inference evaluations): tables without names.

`BAYES` or `MARKOV`, the number of variables, their numbers of states, the number of functions, the scope of each (its
size, then its variables by position), then the table of each (its size, then its entries, the last variable fastest).
In `BAYES` files the last variable of a scope is the child. See https://uaicompetition.github.io/uci-2022/file-formats/.

The format has no names: variables are read as x0, x1, … and their states as 0, 1, …; writing a model with other names
or labels loses them, with a warning. `MARKOV` is read as a `MarkovNetwork`; a `FactorGraph` is written as one. A
`BAYES` file in which a row is 0 throughout, as where evidence was absorbed, is read as a `MarkovNetwork` too, with a
warning. aGrUM (pyAgrum) names the child of each function of a `BAYES` file in a comment after its scope, and lets the
first parent change fastest: such a file is read so, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import FormatError, NotDirectedWarning
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.formats.files import warn_losses
from juncture.formats.losses import as_tables, cut_losses, find_losses
from juncture.formats.rows import RowRepair, check_size, describe_row
from juncture.formats.uai.numbers import NumberReader, blank_comments, first_word
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.variables import Scope, Variable

PREAMBLES = {BayesianNetwork: "BAYES", MarkovNetwork: "MARKOV", FactorGraph: "MARKOV", PairwiseNetwork: "MARKOV"}
NAMED_SCOPE = re.compile(rb"^[ \t]*[0-9]+(?:[ \t]+[0-9]+)+[ \t]*#[ \t]*\S+[ \t]*\r?$", re.MULTILINE)
LEAST_NUMBERS = 3  # of a function: the size of its scope, the size of its table, and an entry
SPARE_STATES = 10**6  # of variables that no function mentions, so that nothing else bounds them


class Function(NamedTuple):
    """A scope and a table, and at which numbers of the file they stand."""

    scope: Scope
    values: np.ndarray
    scope_at: int
    values_at: int


def read_uai(data: bytes, rows: RowRepair) -> BayesianNetwork | MarkovNetwork:
    """The model in a UAI file."""
    num_named = len(NAMED_SCOPE.findall(data)) if b"#" in data else 0
    data = blank_comments(data)
    word, start = first_word(data)
    if word not in PREAMBLES.values():
        raise FormatError(f"a UAI file begins with BAYES or MARKOV; this one with {word!r}", line=1)
    numbers = NumberReader(data, start)
    numbers.check((numbers.values >= 0) & (numbers.values < np.inf), "numbers must be finite and not negative")
    variables = read_variables(numbers)
    functions = read_functions(numbers, variables)
    if word == "BAYES" and num_named == len(functions) and any(len(function.scope) > 2 for function in functions):
        rows.note_agrum_order()
        functions = [take_first_parent_as_fastest(function) for function in functions]
    if word == "BAYES" and not has_absorbed_evidence(functions, rows):
        return to_network(variables, functions, numbers, rows)
    return MarkovNetwork([Factor(function.scope, function.values) for function in functions], variables)


def read_variables(numbers: NumberReader) -> list[Variable]:
    count = numbers.take_count("the number of variables")
    sizes = numbers.take_whole(count, "a variable's number of states", least=1)
    if sum(sizes) > SPARE_STATES + 2 * numbers.remaining:
        raise numbers.error(
            f"the variables have {sum(sizes):,} states in all, more than the tables of this file can use"
        )
    return [Variable(f"x{index}", size) for index, size in enumerate(sizes)]


def read_functions(numbers: NumberReader, variables: list[Variable]) -> list[Function]:
    """All scopes, then all tables, to the end of the file."""
    count = numbers.take_count("the number of functions")
    if count * LEAST_NUMBERS > numbers.remaining:
        raise numbers.error(f"the file declares {count:,} functions, and only {numbers.remaining:,} numbers follow")
    scopes = [read_scope(numbers, variables) for _ in range(count)]
    functions = [read_table(numbers, scope, at) for scope, at in scopes]
    numbers.finish()
    return functions


def read_scope(numbers: NumberReader, variables: list[Variable]) -> tuple[Scope, int]:
    at = numbers.at
    size = numbers.take_count("the size of a scope")
    indices = numbers.take_whole(size, "a variable of a scope", below=len(variables))
    with numbers.locate_errors(at):
        return Scope(variables[index] for index in indices), at


def read_table(numbers: NumberReader, scope: Scope, scope_at: int) -> Function:
    what = f"the function over ({', '.join(scope.names[:8])}{', …' if len(scope) > 8 else ''})"
    at = numbers.at
    declared = numbers.take_count(f"the size of {what}")
    with numbers.locate_errors(at):
        size = check_size(scope.shape, numbers.remaining, what)
        if declared != size:
            raise FormatError(f"{what} has {size:,} entries, and the file declares {declared:,}")
        values = numbers.take(size, what)
        try:
            return Function(scope, values.reshape(scope.shape), scope_at, at + 1)
        except ValueError as error:
            raise FormatError(f"{what} has {len(scope)} variables; a table has at most 64") from error


def take_first_parent_as_fastest(function: Function) -> Function:
    """The function whose numbers stand in the file in the order of aGrUM."""
    *parents, child = function.values.shape or (1,)
    values = function.values.reshape(*reversed(parents), child)
    axes = (*reversed(range(len(parents))), len(parents))
    return function._replace(values=values.transpose(axes) if function.scope else function.values)


def has_absorbed_evidence(functions: list[Function], rows: RowRepair) -> bool:
    """Whether some rows are 0 throughout, so that the functions are no conditionals, but still factors; noted if so."""
    if rows.normalize:
        return False
    for scope, values, *_ in functions:
        zero = ~values.reshape(-1, values.shape[-1] if values.ndim else 1).any(axis=1)
        if zero.any() and scope:
            row = describe_row(scope[-1], Scope(scope[:-1]), int(np.argmax(zero)))
            note = f"the file says BAYES, but {row} is all 0, as where evidence was absorbed"
            rows.notes.append((f"{note}; it was read as a MarkovNetwork of the same numbers", NotDirectedWarning))
            return True
    return False


def to_network(
    variables: list[Variable], functions: list[Function], numbers: NumberReader, rows: RowRepair
) -> BayesianNetwork:
    """The last variable of each scope is the child; every variable is the child of one function."""
    conditionals: dict[str, Conditional] = {}
    for function in functions:
        if not function.scope or function.scope[-1].name in conditionals:
            what = f"{function.scope[-1].name} is the child of two" if function.scope else "an empty scope has no child"
            raise numbers.error(f"in a BAYES file each function has a child of its own: {what}", function.scope_at)
        *parents, child = function.scope
        with numbers.locate_errors(function.values_at):
            values = rows.repair(child, Scope(parents), function.values)
            conditionals[child.name] = Conditional(child, parents, values)
    with numbers.locate_errors(functions[0].scope_at if functions else 0):
        for variable in variables:
            if variable.name not in conditionals:
                raise FormatError(f"no function has the child {variable.name}; a BAYES file has one for each variable")
        return BayesianNetwork(conditionals[variable.name] for variable in variables)


def write_uai(model: Any) -> str:
    """The UAI text of a model; warns of names, labels and whatever else the format cannot express."""
    preamble = PREAMBLES.get(type(model))
    if preamble is None:
        raise FormatError(
            f"UAI holds Bayesian networks, Markov networks and factor graphs, not a {type(model).__name__};"
            " write it as .json"
        )
    parts = as_tables(model, "UAI") if preamble == "BAYES" else model.factors
    check_doubles(parts, "UAI")
    warn_losses([*find_losses(model), *uai_losses(model)], "UAI")
    indices = {name: index for index, name in enumerate(model.variables.names)}
    scopes = [" ".join(map(str, [len(part.scope), *(indices[name] for name in part.scope.names)])) for part in parts]
    sizes = " ".join(str(variable.num_states) for variable in model.variables)
    head = [preamble, str(len(indices)), sizes, str(len(parts)), *scopes]
    return "\n".join([*head, *(table_text(part.values) for part in parts)]) + "\n"


def check_doubles(parts: Iterable[Any], format_name: str) -> None:
    """Refuse factors whose values are kept as logarithms, since they are no doubles."""
    for part in parts:
        if getattr(part, "holds_logs", False):
            names = ", ".join(part.scope.names)
            raise FormatError(
                f"{format_name} holds doubles, and the factor over ({names}) has others; write it as .json"
            )


def table_text(values: np.ndarray) -> str:
    """The size of a table, then a line per row."""
    rows = values.reshape(-1, values.shape[-1] if values.ndim else 1).tolist()
    return "\n".join(["", str(values.size), *(" ".join(map(repr, row)) for row in rows)])


def uai_losses(model: Any) -> list[str]:
    plain = [Variable(f"x{index}", variable.num_states) for index, variable in enumerate(model.variables)]
    losses = naming_losses(model.variables, plain)
    return [*losses, "a factor graph is read back as a Markov network"] if isinstance(model, FactorGraph) else losses


def naming_losses(variables: Scope, plain: list[Variable]) -> list[str]:
    """What differs from the names that reading gives."""
    pairs = list(zip(variables, plain, strict=True))
    losses = []
    if any(variable.name != other.name for variable, other in pairs):
        losses.append("variables lose their names and become x0, x1, …")
    if any(Variable(other.name, variable.states) != other for variable, other in pairs):
        losses.append("states lose their labels and become 0, 1, …")
    return [*losses, *cut_losses(variables)]
