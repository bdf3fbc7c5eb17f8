"""`juncture predict --cost`: a table of losses from a file, with a row for each decision or for each pair.

Wide: a first column of decisions, and a column for each state of the target. Long: columns `decision`, `state` (or the
name of the target) and `loss` (or `cost`), a row for each pair of a decision and a true state.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from juncture.base.values import few
from juncture.data.dataset import as_table
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.evaluation.decisions.loss_matrix import LossMatrix
from juncture.variables import Variable, first_repeated

DECISION, STATE, LOSS = ("decision",), ("state",), ("loss", "cost")
Losses = Mapping[tuple[int, str], float]  # (code of the true state, decision) → loss


def read_losses(file: str, variable: Variable, decimal: str = ".") -> LossMatrix:
    """The losses of decisions about a variable with states, (state, decision)."""
    if variable.is_real:
        raise InvalidData(
            f"--cost: decisions are about the states of a variable, and {variable.name!r} is real-valued: its"
            " prediction has no table of losses"
        )
    table = as_table(file)
    cells = {name: texts_of(table, name) for name in table.cells}
    for name, column in cells.items():
        if None in column:
            raise InvalidData(f"--cost: {file} has an empty cell in the column {name!r}; give a loss for each pair")
    columns = {name: [str(cell) for cell in column] for name, column in cells.items()}
    losses = (read_long if is_long(columns, variable) else read_wide)(columns, variable, file, decimal)
    actions = list(dict.fromkeys(action for _, action in losses))
    if len(actions) < 2:
        raise InvalidData(f"--cost: {file} has {few(actions) or 'no decision'} only; a choice takes two or more")
    values = [[losses[code, action] for action in actions] for code in range(variable.num_states)]
    return LossMatrix(values, variable.labels, actions)


def texts_of(table: Table, name: str) -> list[str | None]:
    levels = table.column(name).levels
    return [None if code < 0 else str(levels.labels[code]).strip() for code in levels.codes.tolist()]


def find_head(columns: Iterable[str], names: Iterable[str]) -> str | None:
    """The column that has one of these names, in any case of letters."""
    known = {name.lower() for name in names}
    return next((head for head in columns if head.strip().lower() in known), None)


def heads_of_pairs(columns: Iterable[str], variable: Variable) -> tuple[str | None, str | None, str | None]:
    return find_head(columns, DECISION), find_head(columns, [*STATE, variable.name]), find_head(columns, LOSS)


def is_long(columns: Mapping[str, list[str]], variable: Variable) -> bool:
    return len(columns) == 3 and None not in heads_of_pairs(columns, variable)


def read_long(columns: Mapping[str, list[str]], variable: Variable, file: str, decimal: str) -> Losses:
    """The losses from a row for each pair."""
    heads = [head or "" for head in heads_of_pairs(columns, variable)]
    actions, states, numbers = (columns[head] for head in heads)
    losses: dict[tuple[int, str], float] = {}
    for action, state, text in zip(actions, states, numbers, strict=True):
        pair = variable.code(state), action
        if pair in losses:
            raise InvalidData(
                f"--cost: {file} has two rows of the decision {action!r} where {variable.name} is {state}"
            )
        losses[pair] = as_loss(text, decimal, file)
    for code, action in product(range(variable.num_states), dict.fromkeys(actions)):
        if (code, action) not in losses:
            state = variable.labels[code]
            raise InvalidData(f"--cost: {file} has no loss of the decision {action!r} where {variable.name} is {state}")
    return losses


def read_wide(columns: Mapping[str, list[str]], variable: Variable, file: str, decimal: str) -> Losses:
    """The losses from a row for each decision and a column for each true state."""
    (first, actions), *others = columns.items() if columns else [("", [])]
    codes = [variable.find(head.strip()) for head, _ in others]
    are_states = sorted(code for code in codes if code is not None) == [*range(variable.num_states)]
    rows_are_states = {variable.find(action) for action in actions} == {*range(variable.num_states)}
    if not are_states or None in codes:
        turned = "; its rows are the states: exchange rows and columns" if rows_are_states else ""
        raise InvalidData(
            f"--cost: {file} needs a column of decisions and one for each true state of {variable.name}, which are"
            f" {few(map(str, variable.labels))}, or the columns decision, state and loss; it has"
            f" {few(columns) or 'none'}{turned}"
        )
    if rows_are_states and find_head([first], DECISION) is None:
        raise InvalidData(
            f"--cost: rows and columns of {file} are both the states of {variable.name}: name its first column decision"
            " if a row is a decision and a column the true state, else exchange them"
        )
    if len(set(actions)) < len(actions):
        raise InvalidData(f"--cost: {file} has two rows of the decision {actions[first_repeated(actions)]!r}; give one")
    return {
        (code, action): as_loss(text, decimal, file)
        for code, (_, numbers) in zip(codes, others, strict=True)
        if code is not None
        for action, text in zip(actions, numbers, strict=True)
    }


def as_loss(text: str, decimal: str, file: str) -> float:
    try:
        number = float(text.replace(decimal, "."))
    except ValueError:
        number = math.nan
    if not np.isfinite(number):
        raise InvalidData(f"--cost: a loss is a finite number, and a gain a negative one; {file} has {text!r}")
    return number
