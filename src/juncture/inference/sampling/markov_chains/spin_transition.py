"""`SpinTransition`: Gibbs sweeps of a grid of spins with one coupling and one field, 64 spins in a word."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.sampling.markov_chains.chains import Chain, Spread
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.spins import NUM_DIGITS, sweep_spins
from juncture.networks.pairwise.checks import grid_edges
from juncture.networks.pairwise.model import PairwiseNetwork

BITS = 64
ALL = np.uint64(2**64 - 1)


def is_uniform_grid(model: object, target: Target) -> bool:
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
