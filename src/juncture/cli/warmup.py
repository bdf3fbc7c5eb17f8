"""`juncture warmup` and `warm_up`: compile every kernel ahead, those of inference, of learning and of sequences."""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from subprocess import PIPE, Popen
from threading import Thread
from typing import Any

import numpy as np

from juncture.base.compilation import compiling
from juncture.cli.printing.output import console
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.sources.entries import as_source
from juncture.errors import JunctureError
from juncture.evidence import as_findings
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.poisson import Poisson
from juncture.families.family import Family
from juncture.families.statistics.long_data import LONG
from juncture.families.vectors.independent import Independent
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.graphs.directed import DirectedGraph
from juncture.inference.engines.contract import Query, Question
from juncture.inference.exact.clique_search import DENSE_NODES
from juncture.inference.exact.gaussian.plan import DENSE_NODES as DENSE_GAUSSIAN
from juncture.inference.exact.gaussian.plan import find_order
from juncture.inference.exact.junction_tree.choice import keep_possible_states
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.junction_tree.factored_tree import lay_out_factored, pack_factored
from juncture.inference.exact.junction_tree.plan import find_structure
from juncture.inference.messages.loopy import MessageSchedule, flood_row
from juncture.inference.messages.message_layout import MessageGraph, MessageState
from juncture.inference.planning import cost
from juncture.inference.sampling.markov_chains.gibbs import Gibbs
from juncture.inference.sampling.markov_chains.metropolis import Metropolis
from juncture.inference.sampling.markov_chains.pairs import MANY_NODES
from juncture.inference.sampling.markov_chains.swendsen_wang import SwendsenWang
from juncture.inference.sampling.markov_chains.tempering import ParallelTempering
from juncture.kernels.machine_code import without_collection
from juncture.kernels.messages.layout import SUM
from juncture.kernels.messages.schedules import FLOODING
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.structure.data import settle
from juncture.learning.structure.independence import PermutationTest
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.discrete import discrete_scores
from juncture.learning.structure.searches.pc import PC
from juncture.learning.structure.searches.trees import ChowLiu
from juncture.learning.structure.sets import find_paths
from juncture.learning.structure.streamed.streamed_rows import gather_rows
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.networks.pairwise.ising import ising, potts
from juncture.sequences.hidden_markov.fit import expect_statistics
from juncture.sequences.hidden_markov.forward_backward import LONG as LONG_SEQUENCE
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.trees.tree import DecisionTree
from juncture.variables import Variable
from juncture.verbs import fit, infer, most_probable, sample


def warmup() -> None:
    """Compile the numerical kernels now, so that the first large question does not wait for them.

    Example: juncture warmup
    """
    from juncture.base.compilation import can_compile
    from juncture.kernels.machine_code import remove_old_folders
    from juncture.runtime.parallel import num_threads

    out = console()
    if not can_compile():
        out.print("there is nothing to compile: Numba is not installed, and kernels run interpreted")
        return
    out.print("compiling the kernels; this is done once for each installation …")
    logging.getLogger("juncture.compiling").setLevel(logging.ERROR)  # it would advise this very command
    started = time.perf_counter()
    run = warm_up if num_threads() == 1 else warm_up_in_two_processes
    if out.is_terminal:
        show_bar(out, run)
    else:
        run(out.print)  # a line for each subject, for logs
    remove_old_folders()
    out.print(f"done in {time.perf_counter() - started:.1f} s")


def show_bar(out: Any, run: Any) -> None:
    """A bar with the subject that is compiled now."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=len(SUBJECTS))
        begun: list[str] = []

        def begin(subject: str) -> None:
            progress.update(task, completed=len(begun), description=subject)
            begun.append(subject)

        run(begin)


NUM_ROWS = 64
WIDE = 27  # states: a ring of four such variables is just large enough for the search of orders to go on
TINY = -800.0  # a logarithm whose exponential is zero


def warm_up(begin: Callable[[str], None] = lambda subject: None, subjects: Iterable[str] | None = None) -> None:
    """Ask small models, then learn from a few rows in every way; the compiled code is kept on disk.

    `begin` is called before each subject of `SUBJECTS`, or of those that are given, with its name.
    """
    with compiling(), without_collection():
        chosen = list(SUBJECTS if subjects is None else subjects)
        for subject in chosen:
            begin(subject)
            SUBJECTS[subject]()
            if subject != chosen[-1]:
                gc.collect(1)  # what this subject left, and nothing older


def warm_up_in_two_processes(begin: Callable[[str], None]) -> None:
    """`warm_up`, with a second process for the subjects after the first ones, which take as long to compile."""
    here, there = list(SUBJECTS)[:NUM_OF_FIRST], list(SUBJECTS)[NUM_OF_FIRST:]
    command = [sys.executable, "-c", SECOND_PROCESS, *there]
    with Popen(command, stdout=PIPE, text=True, encoding="utf-8") as second:  # noqa: S603 (this interpreter)
        told = Thread(target=tell_each, args=(begin, second.stdout))
        told.start()
        try:
            warm_up(begin, here)
            told.join()
        except BaseException:
            second.terminate()  # which a signal to this process alone does not end
            raise
    if second.returncode:
        raise JunctureError("a process that compiled kernels has failed; its message is above")


def tell_each(begin: Callable[[str], None], lines: Iterable[str] | None) -> None:
    for line in lines or ():
        begin(line.strip())


SECOND_PROCESS = """
import logging, sys
from juncture.cli.warmup import warm_up
logging.getLogger("juncture.compiling").setLevel(logging.ERROR)
sys.stdout.reconfigure(encoding="utf-8")
warm_up(lambda subject: print(subject, flush=True), sys.argv[1:])
"""


def small_columns(number: int = 3) -> dict[str, np.ndarray]:
    """The codes of some columns: a, b, c and so on."""
    codes = np.arange(NUM_ROWS) % 3 % 2
    return {chr(ord("a") + shift): np.roll(codes, shift) for shift in range(number)}


def small_rows() -> Dataset:
    """Rows of labels."""
    return Dataset({name: np.array(["no", "yes"])[column] for name, column in small_columns().items()})


def learn_parameters() -> None:
    """Learn from rows, from rows with weights and from rows with holes, and draw."""
    rows, graph = small_rows(), DirectedGraph.parse("a -> b; b -> c")
    weighed = Dataset(rows, weights=np.full(NUM_ROWS, 0.5))
    holed = {name: [None, *column[1:].tolist()] for name, column in small_columns().items()}
    for data in (rows, weighed, Dataset(holed)):
        model = fit(graph, data, prior=1.0).model
    sample(model, NUM_ROWS, rng=0)


def learn_structures() -> None:
    """Search in every way."""
    rows, many = small_rows(), small_columns(9)
    learn_structure(rows, "hill-climbing", restarts=1)
    scores = discrete_scores(Dataset.from_codes([Variable(name, 2) for name in many], many), "likelihood", 0.0)
    scores.rows.state_counts  # noqa: B018 (from now on scores are taken from these)
    for parents in ([], [1], [1, 2, 3, 4, 5, 6]):  # by bits, by those of a smaller base, and by groups
        scores.score_extensions(0, parents, [7, 8])
    learn_structure(rows, "exact")
    learn_structure({name: [None, *column[1:].tolist()] for name, column in small_columns().items()})  # with holes
    learn_structure(rows, "pc", test=PermutationTest(10))
    past_memory = gather_rows(as_source(rows, block_rows=NUM_ROWS // 2), most=1)
    for search in (ChowLiu(), PC()):
        settle(past_memory, lambda: search.run(past_memory, rng=np.random.default_rng(0)))  # noqa: B023
    find_paths(np.zeros((2, 2), dtype=np.bool_))  # which PC asks where there are colliders


def ask_network() -> None:
    """Ask a small network every kind of question."""
    a, b = Variable("a", 2), Variable("b", 2)
    model = BayesianNetwork([Conditional(a, [], [0.5, 0.5]), Conditional(b, [a], [[0.9, 0.1], [0.2, 0.8]])])
    infer(model, {"a": 1})
    infer(model, [{"a": 1}, {"b": [0.5, 1.0]}])
    most_probable(model, {"a": 1})
    most_probable(model, [{"a": [0.4, 1.0]}, {"a": [1.0, 0.4]}])
    most_probable(model, k=2)
    sample(model, 2, given={"a": 1}, rng=0)
    sample(model, 2, rng=0)
    infer(model, {"b": 1}, method="likelihood-weighting", rng=0)
    infer(MarkovNetwork([Factor([a, b], [[1.0, 1e-200], [1e-200, 1.0]])] * 2))
    infer(long_chain(DENSE_NODES + 1), {"x0": 1})
    large = MarkovNetwork([Factor([Variable(name, 12) for name in "abc"], np.ones((12, 12, 12)))])
    infer(large, [{"a": 1}] * 8)  # enough rows that cutting the table pays, also for the next
    infer(large, {"a": 1})
    ring = [Variable(f"x{index}", WIDE) for index in range(4)]
    cost(MarkovNetwork([Factor([ring[index - 1], ring[index]], np.ones((WIDE, WIDE))) for index in range(4)]))


def ask_sparse_network() -> None:
    """Ask a small network, of which only possible cells are kept, every kind of question."""
    a, b, c = Variable("a", 2), Variable("b", 2), Variable("c", 2)
    tables = [[0.9, 0.1], [0.2, 0.8]]
    parts = [Conditional(a, [], [0.5, 0.5]), Conditional(b, [a], [[0.0, 1.0], [1.0, 0.0]]), Conditional(c, [b], tables)]
    model = BayesianNetwork(parts)
    keep_possible_states(model)
    infer(model, {"a": 1})
    infer(model, [{"a": 1}, {"b": [0.5, 1.0]}])
    most_probable(model, {"a": 1})
    most_probable(model, [{"a": [0.4, 1.0]}, {"a": [1.0, 0.4]}])
    most_probable(model, k=2)
    sample(model, 2, given={"c": 1}, rng=0)
    plan = JunctionTree().compile(model, ("a", "b", "c"), ("a",))
    rows = as_findings([{"a": 1}, {"a": None}], model.variables)
    plan.run(model, Query(rows, questions=frozenset({Question.EXPECTED}))).expected(parts, np.ones(2))


def ask_pairwise_network() -> None:
    """Ask a grid."""
    most_probable(ising((2, 2), 0.5), method="icm")


def ask_factored_tree() -> None:
    """Ask a tree whose cliques are not stored, as large ones are not."""
    structure = find_structure([[0, 1]], [2, 2])
    pair = Factor([Variable("a", 2), Variable("b", 2)], [[1.0, 2.0], [2.0, 1.0]])
    tree = pack_factored(lay_out_factored(structure), [pair])
    row = CodedFinding(np.zeros(1, np.int64), np.ones(1, np.int64), np.empty(0, np.int64), np.empty(0))
    tree.run(row, np.arange(2))
    tree.draw(row, 2, np.random.default_rng(0))


def pass_messages() -> None:
    """Pass messages in every way on a small cycle."""
    a, b, c = Variable("a", 2), Variable("b", 2), Variable("c", 2)
    table = [[1.0, 2.0], [2.0, 1.0]]
    cycle = MarkovNetwork([Factor([a, b], table), Factor([b, c], table), Factor([c, a], table)])
    infer(cycle, [{"a": 1}, {}], method="loopy")
    most_probable(cycle, method="max-product")
    graph = MessageGraph.of(cycle)
    state = MessageState.start(graph, np.zeros((1, graph.arrays.total_states)), SUM)
    flood_row(graph, state, MessageSchedule(FLOODING, 0.0, 1e-9, 1), 1)  # as large graphs are


def ascend_mean_field() -> None:
    """Ask for the mean field of a grid, and of a model with zeros and a factor of three."""
    infer(ising((2, 2), 0.5), method="mean-field")
    a, b, c = Variable("a", 2), Variable("b", 2), Variable("c", 2)
    factors = [Factor([a, b], [[1.0, 0.0], [2.0, 1.0]]), Factor([a, b, c], np.ones((2, 2, 2)))]
    infer(MarkovNetwork(factors), method="mean-field")


def run_markov_chains() -> None:
    """A few draws by every kind of chain, also those of grids that are just large enough."""
    for model in (ising((1, MANY_NODES), 0.5), potts((1, MANY_NODES), 3, 0.5)):
        sample(model, 1, method=Gibbs(1, 1, 1), rng=0)
        sample(model, 1, method=ParallelTempering(1, 1, 1, replicas=2), rng=0)
    for single in ("all", "single"):
        sample(ising((2, 2), 0.5), 1, method=SwendsenWang(1, 1, 1, clusters=single), rng=0)
    sample(ising((2, 2), 0.5), 1, method=Metropolis(1, 1, 1), rng=0)
    sample(ising((2, 2), 0.5), 1, method=ParallelTempering(1, 1, 1, replicas=2), rng=0)
    sample(ising((2, 2), 0.5), 1, method=Gibbs(1, 1, 1, blocks="trees"), rng=0)
    fit(LatentDirichletAllocation.standard(2, 2), [[1, 1]], method="gibbs")


def ask_gaussian_network() -> None:
    """Ask small Gaussian networks, directed and undirected, every kind of question; plan a long one."""
    x, y, z = Variable("x"), Variable("y"), Variable("z")
    parts = [LinearGaussian(x, [], []), LinearGaussian(y, [x], [1.0]), LinearGaussian(z, [x, y], [1.0, 1.0], 0.0, 0.0)]
    model = BayesianNetwork(parts)
    infer(model, {"y": 1.0})["x"].mean  # noqa: B018
    infer(model).joint("x", "y")
    sample(model, 2, given={"z": 1.0}, rng=0)
    infer(MarkovNetwork([GaussianFactor([x, y], [0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])]))
    size = DENSE_GAUSSIAN + 1
    find_order(size, np.arange(0, 2 * size - 1, 2), np.repeat(np.arange(size), 2)[1:-1])  # of a chain


def warm_up_families() -> None:
    """Look at data that are just long enough."""
    counts = np.arange(2 * LONG) % 2
    numbers, weights = counts + 0.5, np.ones(len(counts))
    members: tuple[tuple[Family, np.ndarray], ...] = (
        (Gaussian(), numbers), (Poisson(1.0), counts), (Bernoulli(0.5), counts), (Exponential(1.0), numbers),
    )  # fmt: skip
    for member, values in members:
        member.log_prob(values)
        member.statistics(values)
        member.statistics(values, weights)


def warm_up_chains() -> None:
    """Ask about one short and one long sequence."""
    model = HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
    steps = np.arange(LONG_SEQUENCE) % 2
    infer(model, steps)
    most_probable(model, steps)
    most_probable(model, [0, 1], k=2)
    beliefs = infer(model, [0, 1])
    beliefs.lagged(1)
    beliefs.sample(1, rng=0)
    with_zero = HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.0, 1.0]], None)
    infer(with_zero, np.zeros((2, 2)))
    infer(with_zero, np.tile([0.0, TINY], (LONG_SEQUENCE, 1)))
    infer(HiddenMarkovModel([0.5, 0.5], [[1.0, 0.0], [0.1, 0.9]], None), [[0.0, TINY], [0.0, TINY], [10 * TINY, 0.0]])
    expect_statistics(model, model.sequences([0, 1]))


def warm_up_emissions() -> None:
    """Run the expectation step of Gaussian emissions, with and without correlations, and of mixtures."""
    flat, round_ = Gaussian([0.0, 1.0], 1.0), MultivariateGaussian(np.zeros((2, 2)), np.eye(2))
    mixtures = [Mixture([0.5, 0.5], flat), Mixture([0.5, 0.5], flat)]
    rows: tuple[tuple[Any, Any], ...] = ((flat, [0.5, 1.0]), (round_, np.eye(2)), (mixtures, [0.5, 1.0]))
    for emissions, steps in rows:
        model = HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], emissions)
        expect_statistics(model, model.sequences(steps))


def warm_up_mixtures() -> None:
    """Learn Gaussian and Bernoulli mixtures, a step each."""
    one_step = ExpectationMaximization(tolerance=1e9)
    fit(Mixture([0.5, 0.5], MultivariateGaussian(np.eye(2), np.eye(2))), np.eye(3, 2), prior=1.0, method=one_step)
    bits = np.array([[1.0, 0.0], [0.0, np.nan], [0.0, 1.0]])  # complete rows take products of matrices
    fit(Mixture([0.5, 0.5], Independent([Bernoulli([0.4, 0.6])] * 2)), bits, prior=1.0, method=one_step)


def warm_up_classifiers() -> None:
    """Grow a tree from a handful of rows, and ask it; learn a perceptron."""
    line: Any = Hyperplane
    tree: Any = DecisionTree
    fit(line, [0.0, 1.0], [0, 1], method="perceptron")
    rows = {"a": ["x", "y", None, "x"], "b": [1.0, 2.0, 3.0, None]}
    fit(tree, rows, [0, 1, 1, 0]).model.predict(rows)


def warm_up_state_space() -> None:
    """Ask about two steps of a random walk, and draw some."""
    model = LinearGaussianStateSpace(1.0, 1.0, 1.0, 1.0, 0.0, 1.0)
    beliefs = infer(model, [0.5, 1.0])
    beliefs.forecast(1)
    beliefs.sample(1, rng=0)
    sample(model, 2, rng=0)
    fit(model, [0.5, 1.0, 0.2], method=ExpectationMaximization(tolerance=1e9))


def long_chain(length: int) -> BayesianNetwork:
    """A chain that is planned by peeling."""
    variables = [Variable(f"x{index}", 2) for index in range(length)]
    steps = [Conditional(child, [parent], [[0.9, 0.1], [0.2, 0.8]]) for parent, child in pairwise(variables)]
    return BayesianNetwork([Conditional(variables[0], [], [0.5, 0.5]), *steps])


NUM_OF_FIRST = 7  # subjects, which take half of the time
SUBJECTS: dict[str, Callable[[], None]] = {
    "inference in networks": ask_network,
    "large cliques": ask_factored_tree,
    "learning of parameters": learn_parameters,
    "families of distributions": warm_up_families,
    "learning of structure": learn_structures,
    "mean field": ascend_mean_field,
    "Markov chains": run_markov_chains,
    "networks with zeros": ask_sparse_network,
    "messages on any graph": pass_messages,
    "Gaussian networks": ask_gaussian_network,
    "hidden Markov models": warm_up_chains,
    "emissions of hidden Markov models": warm_up_emissions,
    "mixtures": warm_up_mixtures,
    "state spaces": warm_up_state_space,
    "classifiers": warm_up_classifiers,
    "pairwise models": ask_pairwise_network,
}
