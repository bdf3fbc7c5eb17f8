"""`PairTransition`: Gibbs sweeps of a large pairwise model by colours; no two nodes of a colour are neighbours.

Nodes of a colour may be drawn at the same time: a range of them is a piece of work for a thread. Each node takes a
number of its own from the random stream of a sweep, so that draws do not depend on the pieces.

`SpinTransition`: the same for a grid of spins with one coupling and one field, 64 spins in a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from juncture.errors import ImpossibleEvidence
from juncture.inference.engines.factor_arrays import offsets
from juncture.inference.sampling.markov_chains.chains import Chain, Spread
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.pairwise import LIMIT, NUM_DIGITS, SCALE, sweep_pairs, sweep_spins
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.networks.pairwise.nodes import grid_edges
from juncture.runtime import parallel

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

PIECE = 2**16  # nodes of a piece of work
MANY_NODES = 256  # of a model, from which it is swept by colours
MOST_STATES = 255  # codes are bytes


@dataclass(frozen=True, eq=False)
class PairLayout:
    """A pairwise model given evidence, with its nodes in the order of their colours; fixed nodes come last.

    Attributes
    ----------
    order
        The nodes of the model in the new order.
    colour_starts
        Where each colour starts; fixed nodes are in none.
    edges
        Where the neighbours of each node start, the neighbours, and where the table of each edge starts.
    tables, log_unary
        As `sweep_pairs` takes them.
    """

    order: np.ndarray
    colour_starts: np.ndarray
    edges: tuple[np.ndarray, np.ndarray, np.ndarray]
    tables: np.ndarray
    log_unary: np.ndarray
    unary: np.ndarray = field(repr=False)  # (node, state) in the order of the model

    @cached_property
    def positions(self) -> np.ndarray:
        """(node,): where each node of the model is in the new order."""
        positions = np.empty(len(self.order), np.int64)
        positions[self.order] = np.arange(len(self.order))
        return positions

    @cached_property
    def sigmoids(self) -> np.ndarray:
        """1 / (1 + exp(-x)) at equal distances; 0 and 1 at the ends, so that exponentials decide beyond them."""
        places = np.arange(int(2 * LIMIT * SCALE) + 2) / SCALE - LIMIT
        values = 1.0 / (1.0 + np.exp(-places))
        values[0], values[-1] = 0.0, 1.0
        return values


def lay_out_pairs(model: PairwiseNetwork, target: Target) -> PairLayout:
    """The layout of a model given one row of evidence."""
    num_states = model.num_states
    unary = model.log_unary + target.field.reshape(model.num_nodes, num_states)
    is_free = (unary > -np.inf).sum(axis=1) > 1
    colours = np.where(is_free, colour_nodes(model), np.iinfo(np.int64).max)
    order = np.argsort(colours, kind="stable")
    counts = np.unique(colours[is_free], return_counts=True)[1]
    positions = np.empty(model.num_nodes, np.int64)
    positions[order] = np.arange(model.num_nodes)
    tails, heads = positions[model.edges[:, 0]], positions[model.edges[:, 1]]
    owners, others = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    by_owner = np.argsort(owners, kind="stable")
    tables, size, count = edge_tables(model)
    shared = np.zeros(model.num_edges, np.int64) if count == 1 else size * np.arange(model.num_edges)
    places = np.concatenate([shared, count * size + shared])  # the tables of heads come second
    starts = offsets(np.bincount(owners, minlength=model.num_nodes))
    arranged = unary[order]
    return PairLayout(
        order,
        offsets(counts),
        (starts.astype(np.uint32), others[by_owner].astype(np.uint32), places[by_owner].astype(np.uint32)),
        tables,
        as_gains(arranged) if num_states == 2 else np.ascontiguousarray(arranged),
        unary,
    )


def edge_tables(model: PairwiseNetwork) -> tuple[np.ndarray, int, int]:
    """The tables of all edges as their tails see them, then as their heads do; the size of one and their number.

    A table is (state of the neighbour, state of the node); of two states the gain of state 1 for each state of the
    neighbour.
    """
    as_head = np.asarray(model.log_pairwise)  # (edge, state of the tail, state of the head)
    as_tail = np.swapaxes(as_head, 1, 2)
    both = np.concatenate([as_tail, as_head])
    if model.num_states == 2:
        both = both[..., 1] - both[..., 0]
    return np.ascontiguousarray(both).ravel(), int(np.prod(both.shape[1:])), len(as_head)


def as_gains(unary: np.ndarray) -> np.ndarray:
    """(node, 1): log p(1) - log p(0); 0 for nodes without any possible state."""
    is_known = (unary > -np.inf).any(axis=1)
    return np.ascontiguousarray((unary[:, 1] - np.where(is_known, unary[:, 0], 0.0))[:, np.newaxis])


def colour_nodes(model: PairwiseNetwork) -> np.ndarray:
    """(node,): colours of which neighbours have different ones; two for a grid."""
    if "node colours" not in model.derived:
        if np.array_equal(model.edges, grid_edges(model.shape)):
            colours = np.indices(model.shape).sum(axis=0).ravel() % 2
        else:
            colours = colour_greedily(model.num_nodes, model.edges)
        model.derived["node colours"] = colours
    found: np.ndarray = model.derived["node colours"]
    return found


def colour_greedily(num_nodes: int, edges: np.ndarray) -> np.ndarray:
    """(node,): the first colour that no earlier neighbour has."""
    tails, heads = edges.min(axis=1), edges.max(axis=1)
    by_head = np.argsort(heads, kind="stable")
    earlier, starts = tails[by_head].tolist(), offsets(np.bincount(heads, minlength=num_nodes)).tolist()
    colours = [0] * num_nodes
    for node, (start, stop) in enumerate(pairwise(starts)):
        used = {colours[other] for other in earlier[start:stop]}
        while colours[node] in used:
            colours[node] += 1
    return np.array(colours, np.int64)


@dataclass(frozen=True, eq=False)
class PairTransition:
    """A sweep over all colours of a pairwise model; a chain's codes are bytes in the order of the layout."""

    target: Target
    layout: PairLayout
    kept_nodes: np.ndarray
    uses_threads: bool = False  # within a chain
    power: float = 1.0

    @property
    def work(self) -> float:
        return 10.0 * self.layout.log_unary.size

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        """A state of each node, all alike among those that are possible by themselves."""
        allowed = self.layout.unary[self.layout.order] > -np.inf
        counts = allowed.sum(axis=1)
        if (counts == 0).any():
            raise ImpossibleEvidence("the evidence has probability zero")
        picked = (spread.uniforms(len(allowed)) * counts).astype(np.int64)
        ranks = np.cumsum(allowed, axis=1) - 1
        return (allowed & (ranks == picked[:, np.newaxis])).argmax(axis=1).astype(np.uint8)

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        places = self.layout.positions[self.kept_nodes]
        for draw in range(max(1, len(kept))):
            self.sweep(chain, chain.num_sweeps + draw * thin, np.full(thin, self.power))
            if len(kept):
                kept[draw] = chain.codes[places]

    def sweep(self, chain: Chain, first_sweep: int, powers: np.ndarray) -> None:
        """A sweep for each power."""
        layout = self.layout
        fixed = (layout.edges, layout.tables, layout.log_unary, layout.sigmoids)
        end = int(layout.colour_starts[-1])
        if not self.uses_threads:
            sweep_pairs((0, end), *fixed, powers, chain.keys, first_sweep, chain.codes)
            return
        for number in range(len(powers)):
            for pieces in self.pieces:

                def work(piece: tuple[int, int], number: int = number) -> None:
                    power = powers[number : number + 1]
                    sweep_pairs(piece, *fixed, power, chain.keys, first_sweep + number, chain.codes)

                parallel.map(work, pieces)

    @cached_property
    def pieces(self) -> list[Sequence[tuple[int, int]]]:
        """Of each colour the ranges of nodes that a thread takes at once."""
        starts = self.layout.colour_starts.tolist()
        return [
            [(first, min(first + PIECE, stop)) for first in range(start, stop, PIECE)]
            for start, stop in pairwise(starts)
        ]


def takes_pairs(model: Network) -> TypeGuard[PairwiseNetwork]:
    """Whether a model is pairwise, without zeros between nodes."""
    if not isinstance(model, PairwiseNetwork) or model.num_states > MOST_STATES or model.num_nodes == 0:
        return False
    return not np.isneginf(model.log_pairwise).any()


BITS = 64
ALL = np.uint64(2**64 - 1)


def is_uniform_grid(model: Network, target: Target) -> TypeGuard[PairwiseNetwork]:
    """Whether a model is a grid of two axes and two states, with one symmetric table and one field, no evidence."""
    if not isinstance(model, PairwiseNetwork) or model.num_states != 2 or len(model.shape) != 2 or target.field.any():
        return False
    table, unary = model.log_pairwise, model.log_unary
    return (
        len(table) == 1
        and bool(np.isfinite(table).all() and np.isfinite(unary).all() and (unary == unary[0]).all())
        and table[0, 0, 1] == table[0, 1, 0]
        and min(model.shape) > 0
        and np.array_equal(model.edges, grid_edges(model.shape))
    )


@dataclass(frozen=True, eq=False)
class SpinTransition:
    """Sweeps over both colours of a grid; a chain's codes are planes of words (colour, row, word)."""

    target: Target
    shape: tuple[int, int]
    gains: tuple[float, float, float]  # of state 1 over 0: of the field, of a neighbour in state 0, of one in state 1
    kept_nodes: np.ndarray
    power: float = 1.0

    @classmethod
    def of(cls, model: PairwiseNetwork, target: Target, kept_nodes: np.ndarray) -> SpinTransition:
        table, unary = model.log_pairwise[0], model.log_unary[0]
        gains = (unary[1] - unary[0], table[1, 0] - table[0, 0], table[1, 1] - table[0, 1])
        return cls(target, (model.shape[0], model.shape[1]), tuple(map(float, gains)), kept_nodes)  # type: ignore[arg-type]

    @property
    def work(self) -> float:
        return self.shape[0] * self.shape[1] + 2.0 * self.num_kept

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    @property
    def num_half(self) -> int:
        """The most spins of one colour in a row."""
        return (self.shape[1] + 1) // 2

    @cached_property
    def masks(self) -> np.ndarray:
        """(parity, kind, word): which spins exist, which have a neighbour at their place, which at the place beside."""
        width, places = self.shape[1], np.arange(self.num_half)
        bits = np.zeros((2, 3, self.num_half), np.uint8)
        for parity in range(2):
            columns = 2 * places + parity
            exist, has_next = columns < width, columns + 1 < width
            bits[parity] = [exist, exist & (has_next | (parity == 1)), exist & (has_next if parity else places > 0)]
        return pack(bits)

    @cached_property
    def digits(self) -> np.ndarray:
        """(degree, digit, number of neighbours that are up): the binary digits of the probability of up."""
        field, below, above = self.gains
        table = np.zeros((5, NUM_DIGITS, 5), np.uint64)
        for degree in range(5):
            for up in range(degree + 1):
                gain = self.power * (field + up * above + (degree - up) * below)
                probability = 1.0 / (1.0 + np.exp(min(700.0, -gain)))
                whole = min(int(probability * 2.0**64), 2**64 - 1)
                table[degree, :, up] = [ALL * np.uint64(whole >> (63 - digit) & 1) for digit in range(NUM_DIGITS)]
        return table

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        height, words = self.shape[0], self.masks.shape[2]
        planes = spread.words((2, height, words))
        for colour in range(2):
            planes[colour] &= self.masks[(np.arange(height) + colour) % 2, 0]
        return planes

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        for draw in range(max(1, len(kept))):
            sweep_spins(chain.codes, self.masks, self.digits, chain.keys, chain.num_sweeps + draw * thin, thin)
            if len(kept):
                kept[draw] = self.unpack(chain.codes).ravel()[self.kept_nodes]

    def unpack(self, planes: np.ndarray) -> np.ndarray:
        """(row, column): the codes of all nodes."""
        height, width = self.shape
        bits = np.unpackbits(planes.astype("<u8").view(np.uint8), axis=-1, bitorder="little")
        codes = np.empty((height, width), np.uint8)
        for colour in range(2):
            for parity in range(2):
                rows = slice((parity + colour) % 2, None, 2)
                columns = codes[rows, parity::2]
                columns[:] = bits[colour, rows, : columns.shape[1]]
        return codes


def pack(bits: np.ndarray) -> np.ndarray:
    """(…, word): bits (…, place) as words, the first bit the lowest."""
    num_words = -(-bits.shape[-1] // BITS)
    padded = np.zeros((*bits.shape[:-1], num_words * BITS), np.uint8)
    padded[..., : bits.shape[-1]] = bits
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64)
