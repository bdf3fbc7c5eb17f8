"""FG, the factor graphs of libDAI: tables without names, of which only the entries that are not 0 are listed.

The number of factors, then a block for each: the number of its variables, the variables (whole numbers from 0), their
numbers of states, the number of entries that are not 0, and for each its index in the table and its value. The first
variable changes fastest. The rest of a line after `#` is a comment. See the file formats in the manual of libDAI,
https://staff.fnwi.uva.nl/j.m.mooij/libDAI/doc/fileformats.html.

A file is read as a `FactorGraph` of variables x0, x1, … by their numbers, with states 0, 1, …. Writing a model with
other names or labels loses them, and a Bayesian or Markov network comes back as a factor graph, with a warning. A
variable without a factor cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.errors import FormatError
from juncture.factors.factor import Factor
from juncture.formats.files import warn_losses
from juncture.formats.losses import as_tables, find_losses
from juncture.formats.row_repair import RowRepair, check_size
from juncture.formats.uai import REMARK, NumberReader, check_doubles, naming_losses
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.variables import Scope, Variable

NUMBERED = re.compile("x(?:0|[1-9][0-9]{0,14})")
LEAST_NUMBERS = 2  # of a factor: how many variables and how many entries it has
SPARE_CELLS = 2**22  # of all tables of a file, beyond its own length: zeros are not listed


def read_fg(data: bytes, _rows: RowRepair) -> FactorGraph:
    """The factor graph in a libDAI file."""
    data = REMARK.sub(b"", data.removeprefix(b"\xef\xbb\xbf"))
    numbers = NumberReader(data)
    numbers.check((numbers.values >= 0) & (numbers.values < np.inf), "numbers must be finite and not negative")
    count = numbers.take_count("the number of factors")
    if count * LEAST_NUMBERS > numbers.remaining:
        raise numbers.error(f"the file declares {count:,} factors, and only {numbers.remaining:,} numbers follow")
    variables: dict[int, Variable] = {}
    factors: list[Factor] = []
    room = numbers.remaining + SPARE_CELLS
    for _ in range(count):
        scope = read_scope(numbers, variables, room)
        factors.append(Factor(scope, read_values(numbers, scope)))
        room -= scope.size
    numbers.finish()
    if not variables:
        raise numbers.error("no factor has a variable, so that this is no model; is the file damaged?", 0)
    return FactorGraph(factors, [variables[key] for key in sorted(variables)])


def read_scope(numbers: NumberReader, variables: dict[int, Variable], room: int) -> Scope:
    """The variables of a factor; one that was seen before must have as many states as before."""
    at = numbers.at
    count = numbers.take_count("the number of variables of a factor")
    keys = numbers.take_whole(count, "a variable of a factor")
    sizes_at = numbers.at
    sizes = numbers.take_whole(count, "a variable's number of states", least=1)
    with numbers.locate_errors(sizes_at):
        check_size(sizes, room, f"the factor over {describe(keys)}")
    for place, (key, size) in enumerate(zip(keys, sizes, strict=True)):
        known = variables.setdefault(key, Variable(f"x{key}", size))
        if known.num_states != size:
            before = f"x{key} has {size} states here and {known.num_states} in a factor before"
            raise numbers.error(f"{before}; it must have as many in all", sizes_at + place)
    with numbers.locate_errors(at):
        return Scope(variables[key] for key in keys)


def read_values(numbers: NumberReader, scope: Scope) -> np.ndarray:
    """The table, 0 where no entry is given."""
    what = f"the factor over {describe([variable.name[1:] for variable in scope])}"
    at = numbers.at
    size = scope.size
    count = numbers.take_count(f"the number of entries of {what}", below=size + 1)
    pairs = numbers.take(2 * count, f"the entries of {what}").reshape(-1, 2)
    indices = pairs[:, 0]
    wrong = np.nonzero((indices >= size) | (indices != np.floor(indices)))[0]
    if wrong.size:
        rule = f"an index of {what} must be a whole number, at most {size - 1}"
        raise numbers.error(f"{rule}; found {indices[wrong[0]]:g}", at + 1 + 2 * int(wrong[0]))
    codes = indices.astype(np.int64)
    if len(np.unique(codes)) < count:
        repeated = int(np.nonzero(np.bincount(codes) > 1)[0][0])
        raise numbers.error(f"{what} gives the entry {repeated} twice; give it once", at)
    values = np.zeros(size)
    values[codes] = pairs[:, 1]
    try:
        return values.reshape(scope.shape, order="F")
    except ValueError as error:
        raise numbers.error(f"{what} has {len(scope)} variables; a table has at most 64", at) from error


def describe(keys: list[Any]) -> str:
    return f"({', '.join(f'x{key}' for key in keys[:8])}{', …' if len(keys) > 8 else ''})"


def write_fg(model: Network) -> str:
    """The libDAI text of a model; warns of names, labels and whatever else the format cannot express."""
    if type(model) not in {BayesianNetwork, MarkovNetwork, FactorGraph, PairwiseNetwork}:
        kinds = "Bayesian networks, Markov networks and factor graphs"
        raise FormatError(f"FG holds {kinds}, not a {type(model).__name__}; write it as .json")
    parts = as_tables(model, "FG") if isinstance(model, BayesianNetwork) else model.factors
    check_doubles(parts, "FG")
    check_covered(model, [name for part in parts for name in part.scope.names])
    keys = find_keys(model.variables.names)
    warn_losses([*find_losses(model), *fg_losses(model, keys)], "FG")
    indices = dict(zip(model.variables.names, map(str, keys), strict=True))
    return "\n\n".join([str(len(parts)), *(factor_text(part, indices) for part in parts)]) + "\n"


def check_covered(model: Network, names: list[str]) -> None:
    alone = next((name for name in model.variables.names if name not in set(names)), None)
    if alone is not None or not names:
        what = "a model without variables" if alone is None else f"{alone!r}, which no factor mentions"
        raise FormatError(f"FG cannot hold {what}; add a factor of ones, or write it as .uai or .json")


def find_keys(names: Sequence[str]) -> list[int]:
    """The numbers by which reading gives these names and this order, if there are any; else 0, 1, …."""
    if all(NUMBERED.fullmatch(name) for name in names):
        keys = [int(name[1:]) for name in names]
        if keys == sorted(keys):
            return keys
    return list(range(len(names)))


def fg_losses(model: Network, keys: list[int]) -> list[str]:
    plain = [Variable(f"x{key}", variable.num_states) for key, variable in zip(keys, model.variables, strict=True)]
    losses = naming_losses(model.variables, plain)
    if isinstance(model, FactorGraph):
        return losses
    kind = "Bayesian" if isinstance(model, BayesianNetwork) else "Markov"
    return [*losses, f"a {kind} network is read back as a factor graph"]


def factor_text(part: Any, indices: dict[str, str]) -> str:
    values = part.values.ravel(order="F")
    found = np.nonzero(values)[0].tolist()
    entries = [f"{index} {value!r}" for index, value in zip(found, values[found].tolist(), strict=True)]
    variables = " ".join(indices[name] for name in part.scope.names)
    sizes = " ".join(map(str, part.scope.shape))
    return "\n".join([str(len(part.scope)), variables, sizes, str(len(found)), *entries])
