"""`statistics` and the counts of `fit`: complete rows in memory, in the blocks of a source, or in groups by queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block, Origin, RowSource, map_blocks
from juncture.data.sources.groups import GroupingSource, groups_rows
from juncture.errors import InvalidData
from juncture.learning.networks.scope_groups import MOST_GROUPS, group_scopes
from juncture.learning.networks.statistics import NetworkStatistics, Parts, check_complete, count_parts
from juncture.learning.networks.templates import prepare_rows
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable


def network_statistics(
    structure: Any, data: Any, *, variables: Iterable[Variable] | None = None, weights: Any = None
) -> NetworkStatistics:
    template, rows = prepare_rows(structure, data, variables, weights=weights)
    return compute_statistics(template, rows)


def compute_statistics(template: BayesianNetwork, data: Dataset | RowSource) -> NetworkStatistics:
    """The statistics of all families of complete rows."""
    found = count_all(template.conditionals, data, count_or_refuse)
    if found is None:
        raise InvalidData("there are no rows to count: the source gave no block")
    return found


def count_if_complete(template: BayesianNetwork, data: Dataset | RowSource) -> NetworkStatistics | None:
    """The statistics of complete rows; None if a cell is missing, or a column."""
    return count_all(template.conditionals, data, count_or_none)


CountBlock: TypeAlias = Callable[[Parts, Block], NetworkStatistics | None]


def count_or_refuse(parts: Parts, block: Block) -> NetworkStatistics:
    check_complete(block.rows, names_of(parts), block.describe_row)
    return count_parts(parts, block.rows)


def count_or_none(parts: Parts, block: Block) -> NetworkStatistics | None:
    columns = block.rows.columns
    if any(name not in columns or has_hole(columns[name]).any() for name in names_of(parts)):
        return None
    return count_parts(parts, block.rows)


def names_of(parts: Parts) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for part in parts for one in (*part.parents, part.child)))


def count_all(parts: Parts, data: Dataset | RowSource, count: CountBlock) -> NetworkStatistics | None:
    """The statistics of some families; None as soon as `count` gives None."""
    if isinstance(data, Dataset):
        return count(parts, Block(data, Origin()))
    if groups_rows(data) and set(names_of(parts)) <= set(data.names):
        return count_groups(parts, data, count)
    return count_blocks(parts, data, count)  # a column that is not there is found in the first block


def count_blocks(parts: Parts, source: RowSource, count: CountBlock) -> NetworkStatistics | None:
    """The statistics of all blocks, added in order."""
    total: NetworkStatistics | None = None
    for part in map_blocks(partial(count, parts), source):
        if part is None:
            return None
        total = part if total is None else total + part
    return total


def count_groups(parts: Parts, source: GroupingSource, count: CountBlock) -> NetworkStatistics | None:
    """The statistics of the groups of rows that queries give; those of other families from the blocks."""
    found: list[NetworkStatistics] = []
    num_rows: set[int] = set()
    left = set(range(len(parts)))
    groups = group_scopes([Scope((*part.parents, part.child)) for part in parts])
    blocks = source.group_rows([group.scope.names for group in groups], MOST_GROUPS)
    for group, block in zip(groups, blocks, strict=True):
        if block is None:
            continue
        counted = count([parts[position] for position in group.positions], block)
        if counted is None:
            return None
        found.append(counted)
        left.difference_update(group.positions)
        num_rows.add(sum(block.origin.copies))
    if len(num_rows) > 1:
        raise InvalidData(f"the number of rows has changed between queries, from {min(num_rows)} to {max(num_rows)}")
    if left or not found:
        others = [parts[position] for position in sorted(left)]
        counted = count_blocks(others, source.only(names_of(others)), count)
        if counted is None:
            return None
        found.append(counted)
    merged = {name: part for one in found for name, part in one.parts.items()}
    return NetworkStatistics({part.child.name: merged[part.child.name] for part in parts}, found[0].weight)
