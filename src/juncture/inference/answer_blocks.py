"""`answer_blocks`: the answers of a verb for the rows of a source, one block after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from juncture.base.checks import check_function
from juncture.base.shown import shown_html
from juncture.data.dataset import Dataset
from juncture.data.sequences import Sequences
from juncture.data.sources.contract import Block, check_extra, map_blocks
from juncture.data.sources.entries import as_lazy_source, as_source
from juncture.data.sources.sequence_source import SequenceModel, read_sequences
from juncture.errors import InvalidData
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Model, Variable


class BlockAnswers(NamedTuple):
    """The rows of a block (or the sequences that end in it), and the answers for them."""

    rows: Dataset | Sequences
    answers: Any

    def _repr_html_(self) -> str:
        return shown_html(self)


def answer_blocks(
    verb: Callable[..., Any],
    model: Model,
    data: Any,
    *,
    group: str | None = None,
    states: str | None = None,
    extra: str = "error",
    **options: Any,
) -> Iterator[BlockAnswers]:
    """The answers of a verb for rows that need not fit in memory, block by block.

    Parameters
    ----------
    verb
        `jt.infer`, `jt.most_probable` or `jt.log_prob`, or any function of a model and rows.
    model
        Any model.
    data
        The rows: a file, a folder, a query, a function that gives frames, a source (`juncture.data.sources.as_source`),
        or rows in memory.
    group, states
        For a model of sequences, the column of the key and the column of labels of states, as in `infer`.
    extra
        "error" or "ignore": what happens to columns that are not variables of a network.
    **options
        Those of the verb.

    Returns
    -------
    Iterator[BlockAnswers]
        Of each block `rows`, a `Dataset`, and `answers`, in the order of the rows. Blocks are read and answered on all
        cores, and memory holds a few of them. With `group`, the rows are whole sequences, and answers are as for a list
        of them.

    Examples
    --------
    >>> import juncture as jt
    >>> from juncture.data.sources import as_source
    >>> model = jt.example("asia")
    >>> source = as_source(jt.sample(model, 1000, rng=0), block_rows=400).only(["xray", "dysp"])
    >>> for part in answer_blocks(jt.infer, model, source, targets=["lung"]):
    ...     print(len(part.rows), part.answers["lung"]["yes"].max().round(3))
    400 0.621
    400 0.621
    200 0.621
    """
    check_function(verb, "the verb")
    if group is not None or states is not None:
        return answer_sequences(verb, model, data, group, states, options)
    names = model.variables if isinstance(model, BayesianNetwork | FactorProduct) else None
    source = as_lazy_source(data) or as_source(data, names, extra="ignore")
    if names is not None:
        check_extra(source.names, names, extra)  # type: ignore[arg-type]
    coded = source.coded(map(Variable, source.names) if names is None else names)
    return map_blocks(partial(answer_block, verb, model, options), coded)


def answer_block(verb: Callable[..., Any], model: Model, options: dict[str, Any], block: Block) -> BlockAnswers:
    with block.origin.located():
        return BlockAnswers(block.rows, verb(model, block.rows, **options))


def answer_sequences(
    verb: Callable[..., Any], model: Model, data: Any, group: Any, states: Any, options: dict[str, Any]
) -> Iterator[BlockAnswers]:
    if not isinstance(model, SequenceModel):
        raise InvalidData("`group` and `states` are for models of sequences; leave them out")
    given = read_sequences(model, data, None, group, states)
    return (BlockAnswers(part, verb(model, part, **options)) for part in given.parts())
