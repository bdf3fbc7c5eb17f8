"""Laws over every search: constraints hold, the same seed gives the same graph, none beats the exact one."""

from __future__ import annotations

import numpy as np
import pytest

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.data.tables.coding import Coding
from juncture.errors import InvalidData, JunctureError, UnknownVariable, Unsupported
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.independence import PermutationTest, SeparationTester
from juncture.learning.structure.learn import SEARCHES, learn_structure
from juncture.learning.structure.scores.discrete import NodeAverage
from juncture.learning.structure.scores.gaussian import BGe
from juncture.learning.structure.scores.scores import BDs, EdgePrior
from juncture.learning.structure.searches.exact import ExactSearch
from juncture.learning.structure.searches.mmhc import MaxMin
from juncture.learning.structure.searches.pc import PC
from juncture.learning.structure.searches.structural_em import StructuralEM
from juncture.learning.structure.searches.trees import TreeAugmented
from juncture.variables import Variable
from juncture.verbs import fit, sample
from support.structure_examples import keeps, random_reals, random_rows

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")  # asia has a function
NEEDED = {"tree-augmented": {"target": "bronc"}, "pc": {"directed": True}, "ges": {"directed": True}}
ROWS = {"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10}
EMPTY_NUMBERS = {"a": np.full(3, np.nan), "b": [1.5, 2.5, 0.0]}
CONSTRAINTS = [
    {"required": [("smoke", "asia"), ("asia", "xray")]},
    {"required": [("bronc", "dysp"), ("bronc", "xray")], "max_parents": 1},
    {"forbidden": [("tub", "either"), ("either", "tub"), ("smoke", "bronc"), ("bronc", "smoke"), ("lung", "either")]},
    {"tiers": [["xray", "dysp"], ["bronc", "either"], ["asia", "smoke"]]},
    {"tiers": [["bronc"], ["dysp", "xray"], ["either"]], "max_parents": 2, "required": [("dysp", "asia")]},
    {"max_parents": 2, "forbidden": [("either", "xray"), ("either", "dysp")], "required": [("xray", "tub")]},
    {"max_parents": 0},
]


@pytest.fixture(scope="module")
def asia() -> Dataset:
    return sample(example("asia"), 2000, rng=1)


def learned(data, name: str, **options) -> DirectedGraph:
    return learn_structure(data, name, **NEEDED.get(name, {}), **options)


@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=" ".join)
@pytest.mark.parametrize("name", SEARCHES)
def test_constraints_hold(name, constraints, asia):
    graph = learned(asia, name, **constraints)
    assert isinstance(graph, DirectedGraph)
    assert graph.nodes == tuple(asia.columns)
    assert keeps(graph, **constraints)


@pytest.mark.parametrize("name", ["pc", "ges"])
def test_arrows_of_classes_keep_constraints(name, asia):
    for constraints in CONSTRAINTS:
        graph = learn_structure(asia, name, **constraints)
        assert set(constraints.get("required", ())) <= set(graph.directed_edges)
        assert not set(constraints.get("forbidden", ())) & {
            *graph.directed_edges,
            *graph.undirected_edges,
            *(edge[::-1] for edge in graph.undirected_edges),
        }
        limit = constraints.get("max_parents", 8)
        assert all(len(graph.parents(node)) <= limit for node in graph.nodes)


@pytest.mark.parametrize("name", SEARCHES)
def test_constraints_hold_on_random_data(name):
    rng = np.random.default_rng(0)
    for _ in range(6):
        data = random_rows(rng, 150, [2, 3, 2, 2, 3])
        order = [f"n{index}" for index in rng.permutation(5)]
        constraints = {"required": [(order[0], order[1])], "forbidden": [(order[1], order[2]), (order[2], order[3])]}
        constraints |= {"tiers": [order[:2], order[3:]], "max_parents": 2}
        options = {"target": order[0]} if name == "tree-augmented" else NEEDED.get(name, {})
        assert keeps(learn_structure(data, name, **options, **constraints), **constraints)


@pytest.mark.parametrize("name", SEARCHES)
def test_the_same_seed_gives_the_same_graph(name, asia):
    first, second = (learned(asia, name, rng=4) for _ in range(2))
    assert first == second
    assert first.edges == second.edges


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2", "aic", "bds"])
def test_none_beats_the_exact_search(score):
    for seed in range(3):
        data = random_rows(np.random.default_rng(seed), 120, [2, 3, 2, 2, 2, 3])
        best = structure.score(learn_structure(data, "exact", score=score), data, score)
        for name in ("hill-climbing", "ges", "mmhc", "chow-liu"):
            graph = learn_structure(data, name, score=score, **({"directed": True} if name == "ges" else {}))
            assert structure.score(graph, data, score) <= best + 1e-6


@pytest.mark.parametrize("name", [name for name in SEARCHES if name != "tree-augmented"])
def test_numbers_are_learned_from_too(name):
    data = random_reals(np.random.default_rng(2), 200, 4)
    graph = learned(data, name, required=[("n3", "n0")], max_parents=2)
    assert keeps(graph, required=[("n3", "n0")], max_parents=2)


@pytest.mark.parametrize("name", SEARCHES)
def test_rows_with_weights_count_as_often(name):
    rng = np.random.default_rng(8)
    data = random_rows(rng, 200, [2, 3, 2, 2], weights=rng.integers(0, 4, size=200).astype(float))
    repeated = data.take(np.repeat(np.arange(200), data.weights.astype(int)))
    same = Dataset.from_codes(repeated.variables, repeated.columns)
    options = {"target": "n0"} if name == "tree-augmented" else NEEDED.get(name, {})
    assert learn_structure(data, name, **options) == learn_structure(same, name, **options)


@pytest.mark.parametrize("name", ["hill-climbing", "ges", "exact", "pc", "mmhc"])
def test_progress_is_reported(name, asia):
    message = []
    learned(asia, name, progress=lambda step, value: message.append((step, value)))
    assert message
    assert all(np.isfinite(value) for _, value in message)


def test_methods_are_names_or_objects(asia):
    assert learn_structure(asia, ExactSearch(max_parents=1)) == learn_structure(asia, "exact", max_parents=1)
    assert learn_structure(asia, ExactSearch(), max_parents=1) == learn_structure(asia, "exact", max_parents=1)
    assert learn_structure(asia, ExactSearch) == learn_structure(asia, "exact")


def test_declared_states_count():
    """A state that no row has costs parameters."""
    rows = {"a": [0, 0, 1, 1] * 4, "b": [0, 0, 1, 1] * 3 + [0, 1, 0, 1]}
    assert learn_structure(rows, rng=0).edges
    assert not learn_structure(rows, variables=[Variable("b", 40)], rng=0).edges


def test_refusals(asia):
    with pytest.raises(Unsupported, match="did you mean 'exact'"):
        learn_structure(asia, "exakt")
    with pytest.raises(Unsupported, match="CombinedSearch has no option 'tabo'; did you mean 'tabu'"):
        learn_structure(asia, tabo=3, rng=0)
    with pytest.raises(UnknownVariable, match="the data has no variable 'lunge'; did you mean 'lung'"):
        learn_structure(asia, forbidden=[("lunge", "tub")], rng=0)
    with pytest.raises(InvalidData, match="required, but forbidden too"):
        learn_structure(asia, required=[("lung", "tub")], tiers=[["tub"], ["lung"]], rng=0)
    with pytest.raises(InvalidData, match="form a cycle"):
        learn_structure(asia, required=[("lung", "tub"), ("tub", "asia"), ("asia", "lung")], rng=0)
    with pytest.raises(InvalidData, match="more required parents"):
        learn_structure(asia, required=[("lung", "tub"), ("asia", "tub")], max_parents=1, rng=0)
    with pytest.raises(InvalidData, match="twice in the tiers"):
        learn_structure(asia, tiers=[["tub"], ["tub"]], rng=0)
    with pytest.raises(InvalidData, match="list of lists"):
        learn_structure(asia, tiers=["tub"], rng=0)
    with pytest.raises(InvalidData, match="no columns"):
        learn_structure({}, rng=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: learn_structure(ROWS, 3), "a method is a name or a search such as HillClimbing"),
        (lambda: learn_structure(ROWS, PC(), levl=0.1), "PC has no option 'levl'; did you mean 'level'"),
        (lambda: learn_structure(ROWS, TreeAugmented), "TreeAugmented needs target"),
        (lambda: learn_structure(ROWS, "pc", level="x"), "between 0 and 1; got 'x'"),
        (lambda: learn_structure(ROWS, "pc", max_given=-1), "max_given must be a whole number of at least 0"),
        (lambda: learn_structure(ROWS, "mmhc", max_given=1.5), "max_given must be a whole number"),
        (lambda: PermutationTest(0), "num_shuffles must be a whole number of at least 1"),
        (lambda: structure.strengths(ROWS, draws=1.5, rng=0), "draws must be a whole number of at least 1"),
        (
            lambda: learn_structure({"a": [0.5, None], "b": [1.5, 2.5]}, rng=0),
            "'a' has the same number in every row that has one: leave the column out",
        ),
        (lambda: learn_structure(ROWS, "exact", max_parents=True), "max_parents must be a whole number"),
        (lambda: StructuralEM(completions="x"), "completions must be a whole number of at least 1; got 'x'"),
        (lambda: StructuralEM(completions=1.5), "completions must be a whole number of at least 1; got 1.5"),
        (lambda: StructuralEM(max_steps=0), "max_steps must be a whole number of at least 1"),
        (lambda: StructuralEM(prior="x"), "the prior of structural EM must be a finite number of more than 0"),
        (lambda: BGe("x"), "the strength of BGe must be a finite number of more than 0; got 'x'"),
        (lambda: BGe(degrees="x"), "the degrees of BGe must be"),
        (lambda: NodeAverage(cost="x"), "the cost of a parameter must be"),
        (lambda: EdgePrior(expected_parents="x"), "expected_parents must be"),
        (lambda: BDs("x"), "equivalent sample size of BDs must be"),
        (
            lambda: learn_structure(ROWS, variables=[Variable("bb", 2)], rng=0),
            "no column 'bb', which is declared; did you",
        ),
        (lambda: learn_structure(ROWS, weights=np.zeros(40), rng=0), "weights of all rows are zero"),
        (lambda: learn_structure(ROWS, "pc", weights=np.zeros(40)), "weights of all rows are zero"),
        (
            lambda: learn_structure(EMPTY_NUMBERS, "structural-em", rng=0),
            "no row has a value of 'a': leave the column out",
        ),
        (lambda: structure.score(example("asia"), ROWS), "of a model take .graph"),
        (lambda: structure.compare(example("asia"), example("asia")), "of a model take .graph"),
        (lambda: fit(learn_structure(ROWS, "pc"), ROWS), "consistent_extension"),
    ],
)
def test_a_first_users_mistakes(wrong, message):
    with pytest.raises(JunctureError, match=message):
        wrong()


def test_a_class_scores_as_its_graphs():
    data = random_rows(np.random.default_rng(2), 100, [2, 3, 2])
    graph = DirectedGraph.parse("n0 -> n1 -> n2")
    assert structure.score(graph.essential_graph(), data) == pytest.approx(structure.score(graph, data))


@pytest.mark.parametrize("is_first", [True, False], ids=["found first, dropped at the end", "never found"])
@pytest.mark.parametrize("needed", [1, 2, 3])
def test_max_min_conditions_on_at_most_so_many(needed, is_first):
    """Only all the variables between x and the target separate the two: as many as may be given, or one too many."""
    between = [f"m{number}" for number in range(needed)]
    graph = DirectedGraph([edge for name in between for edge in (("x", name), (name, "target"))])
    tester, position = SeparationTester.of(graph), graph.nodes.index
    others = [position(name) for name in ("x", *between)]
    strength = np.array([float(name == "x") if is_first else float(name != "x") for name in graph.nodes])

    def find(max_given: int) -> set[str]:
        found = MaxMin(tester, position("target"), strength, 0.05, max_given).relatives(others)
        return {graph.nodes[one] for one in found}

    assert find(needed) == find(needed + 1) == set(between)
    assert find(needed - 1) == {"x", *between}


def test_declared_columns_are_coded_once(monkeypatch):
    coded, code = [], Coding.column
    monkeypatch.setattr(Coding, "column", lambda self, table, name: coded.append(name) or code(self, table, name))
    rows, declared = (
        {"a": ["x", "y"] * 5, "b": ["y", "x"] * 5},
        [Variable("a", list("xyz")), Variable("b", list("xyz"))],
    )
    assert learn_structure(rows, "chow-liu", variables=declared).nodes == ("a", "b")
    assert sorted(coded) == ["a", "b"]
