"""UAI model files (Uncertainty in Artificial Intelligence, inference evaluations): tables without names.

`BAYES` or `MARKOV`, the number of variables, their numbers of states, the number of functions, the scope of each (its
size, then its variables by position), then the table of each (its size, then its entries, the last variable fastest).
In `BAYES` files the last variable of a scope is the child. See
https://uaicompetition.github.io/uci-2022/file-formats/.

The format has no names: variables are read as x0, x1, … and their states as 0, 1, …; writing a model with other names
or labels loses them, with a warning. `MARKOV` is read as a `MarkovNetwork`; a `FactorGraph` is written as one. A
`BAYES` file in which a row is 0 throughout, as where evidence was absorbed, is read as a `MarkovNetwork` too, with a
warning. aGrUM (pyAgrum) names the child of each function of a `BAYES` file in a comment after its scope, and lets the
first parent change fastest: such a file is read so, with a warning.

All files of UAI are an optional word, then numbers between spaces; lines have no meaning. `NumberReader` takes the
numbers from the front: they are converted in bulk, and the line of a number is looked up only when the number is
wrong. Lines that begin with a lone "c" are comments, and so is the rest of a line after "#".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from juncture.errors import FormatError, InvalidModel, NotDirectedWarning
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.formats.files import warn_losses
from juncture.formats.losses import as_tables, cut_losses, find_losses
from juncture.formats.row_repair import RowRepair, check_size, describe_row
from juncture.networks.bayesian_network import BayesianNetwork, Network
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


def write_uai(model: Network) -> str:
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


def uai_losses(model: Network) -> list[str]:
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


CHUNK = 2**20
COMMENT = re.compile(rb"^c(?:[ \t][^\n]*)?$", re.MULTILINE)
REMARK = re.compile(rb"#[^\n]*")
WORD = re.compile(rb"\S+")
SPACE = re.compile(rb"\s")
IN_NUMBERS = b"0123456789+-.eE \t\r\n\v\f"
INFINITE = b"inf"
SHOWN = 30


def blank_comments(data: bytes) -> bytes:
    """The bytes with comments blanked, line by line, and without a byte order mark."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    data = REMARK.sub(b"", data) if b"#" in data else data
    return COMMENT.sub(b"", data) if data.startswith(b"c") or b"\nc" in data else data


def first_word(data: bytes) -> tuple[str, int]:
    """The first word, as far as it can be shown, and where it ends."""
    match = WORD.search(data)
    return (match[0][:SHOWN].decode("ascii", "replace"), match.end()) if match else ("", len(data))


class NumberReader:
    """All numbers from `start` to the end of the file; `at` is the position of the next number to take."""

    def __init__(self, data: bytes, start: int = 0, *, letters: bytes = b"") -> None:
        self.data = data
        self.at = 0
        self._chunks: list[tuple[int, int]] = []  # for each chunk its first number and its offset
        pieces = list(self._convert(start, IN_NUMBERS + letters))
        self.values = np.concatenate(pieces) if pieces else np.zeros(0)

    def _convert(self, start: int, allowed: bytes) -> Iterator[np.ndarray]:
        count = 0
        while start < len(self.data):
            space = SPACE.search(self.data, start + CHUNK)
            end = space.start() if space else len(self.data)
            piece = self.data[start:end]
            self._chunks.append((count, start))
            if piece.translate(None, allowed):
                raise self._bad_word(piece, start, allowed)
            try:
                values = np.array([float(word) for word in piece.split()])
            except ValueError:
                raise self._bad_word(piece, start, allowed) from None
            yield values
            count, start = count + len(values), end

    def _bad_word(self, piece: bytes, start: int, allowed: bytes) -> FormatError:
        match = next(match for match in WORD.finditer(piece) if not is_number(match[0], allowed))
        line = self.data.count(b"\n", 0, start + match.start()) + 1
        return FormatError(f"expected a number, found {match[0][:SHOWN].decode('ascii', 'replace')!r}", line=line)

    # --- refusing --------------------------------------------------------------------------------------------------

    def error(self, message: str, at: int | None = None) -> FormatError:
        """An error at the line of a number; by default the one that was taken last."""
        return FormatError(message, line=self._line(max(self.at - 1, 0) if at is None else at))

    def _line(self, at: int) -> int:
        if not self.values.size:
            return self.data.count(b"\n") + 1
        at = min(at, self.values.size - 1)
        first, start = self._chunks[bisect_right(self._chunks, at, key=lambda chunk: chunk[0]) - 1]
        match = next(islice(WORD.finditer(self.data, start), at - first, None))
        return self.data.count(b"\n", 0, match.start()) + 1

    @contextmanager
    def locate_errors(self, at: int) -> Iterator[None]:
        """Errors inside the block get the line of this number."""
        try:
            yield
        except InvalidModel as error:
            raise self.error(str(error), at) from error
        except FormatError as error:
            raise self.error(error.message, at) from error

    def check(self, good: np.ndarray, rule: str) -> None:
        """Every number must be good."""
        if not good.all():
            at = int(np.argmin(good))
            raise self.error(f"found {self.values[at]:g}; {rule}", at)

    # --- taking ----------------------------------------------------------------------------------------------------

    @property
    def remaining(self) -> int:
        return self.values.size - self.at

    def take(self, count: int, what: str) -> np.ndarray:
        """The next `count` numbers."""
        if count > self.remaining:
            raise self.error(
                f"the file ends too early: {what} takes {count:,} numbers, and {self.remaining:,} are left"
            )
        self.at += count
        return self.values[self.at - count : self.at]

    def take_whole(self, count: int, what: str, *, least: int = 0, below: int | None = None) -> list[int]:
        """The next `count` numbers, which are whole, not less than `least`, and less than `below`."""
        start = self.at
        values = self.take(count, what).tolist()
        end = 2**53 if below is None else below
        for index, value in enumerate(values):  # mostly few, where a loop is faster than arrays
            if not (least <= value < end and value.is_integer()):
                limit = "" if below is None else f" and at most {below - 1}"
                rule = f"{what} must be a whole number, at least {least}{limit}"
                raise self.error(f"{rule}; found {value:g}", start + index)
        return list(map(int, values))

    def take_count(self, what: str, *, least: int = 0, below: int | None = None) -> int:
        return self.take_whole(1, what, least=least, below=below)[0]

    def finish(self) -> None:
        """Raise unless all numbers of the text were read."""
        if self.remaining:
            raise self.error(f"expected the end of the file, found {self.remaining:,} more numbers", self.at)


def is_number(word: bytes, allowed: bytes) -> bool:
    if word.translate(None, allowed):
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True
