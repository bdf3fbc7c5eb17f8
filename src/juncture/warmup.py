"""`warm_up`: compile every kernel ahead, those of inference and those that learning counts, scores and tests with."""

from __future__ import annotations

import numpy as np

from juncture import warmup_inference as warmup
from juncture.data.dataset import Dataset
from juncture.graphs.directed import DirectedGraph
from juncture.inference.sampling.forward import sample
from juncture.learning.networks.fit import fit
from juncture.learning.structure.independence.tests import PermutationTest
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches.climbing import reachability
from juncture.variables import Variable

NUM_ROWS = 64
MANY_STATES = 128  # whose codes need more than a byte


def warm_up() -> None:
    """Ask small models, then learn from a few rows in every way; the compiled code is kept on disk."""
    warm_up_networks()
    warmup.warm_up_sequences()


def warm_up_networks() -> None:
    """Ask a small network, then learn one from a few rows in every way."""
    warmup.warm_up_networks()
    labels = np.arange(NUM_ROWS) % 3 % 2
    texts = {"a": labels, "b": np.roll(labels, 1), "c": np.roll(labels, 2)}
    rows = Dataset({name: np.array(["no", "yes"])[column] for name, column in texts.items()})
    weighed = Dataset(rows, weights=np.full(NUM_ROWS, 0.5))
    holed = {name: [None, *column[1:].tolist()] for name, column in texts.items()}
    graph = DirectedGraph.parse("a -> b; b -> c")
    for data in (rows, weighed, Dataset(holed)):
        model = fit(graph, data, prior=1.0).model
    sample(model, NUM_ROWS, rng=0)
    for data in (rows, with_many_states(rows)):
        learn_structure(data, "hill-climbing", restarts=1)
        learn_structure(data, "exact")
        learn_structure(data, "pc", test=PermutationTest(10))
    reachability(np.zeros((2, 2), dtype=np.bool_))  # which PC asks where there are colliders


def with_many_states(rows: Dataset) -> Dataset:
    """The same codes, of variables with so many states that kernels take wider ones."""
    return Dataset.from_codes([Variable(name, MANY_STATES) for name in rows.columns], rows.columns)
