"""An example of every kind of model with data for it: the laws over kinds run over all; a new kind is one entry.

The laws of answers, files, values and EM take it from here. A kind with many forms of documents has more examples in
`document_examples.py`, one whose values differ in many ways has more in `value_kinds.py`, and EM in `em_problems.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import juncture as jt
from juncture import supervised as sv
from juncture.base.dispatch import what_it_does
from juncture.base.kinds import why_unanswered
from juncture.latent.energy import student_t_energy
from juncture.latent.independent_components.fit import FactorsProblem, UnmixingProblem


def few_steps() -> dict[str, Any]:
    return {"method": jt.ExpectationMaximization(max_steps=3)}


@dataclass(frozen=True, eq=False)
class Kind:
    """A model, evidence of each sort, and what its answers are called."""

    model: Any
    one: Any  # a row or a sequence
    many: Any
    num_many: int
    variable: str
    label: Any  # one of its states; None for real states
    methods: tuple[str, str]  # the algorithms of infer and most_probable
    impossible_one: Any = None  # None where no evidence is impossible
    impossible_many: Any = None
    impossible: tuple[int, ...] = ()
    per_sequence: bool = False  # many give a list of answers
    sampled: type = jt.Dataset
    num_sampled: int = 30
    learned: Any = None  # the structure that fit takes; the model itself by default
    dirichlet: Callable[[float], Any] | None = None  # the prior with this concentration in each cell of all tables
    labelled: Any = None  # rows with labels, for a model of labels given observations, which are not drawn
    table: Callable[[Any], np.ndarray] | None = None  # one of the tables that are learned under it
    is_exact: bool = True  # whether infer is exact; else log_evidence is a lower bound of log_prob
    asked: dict[str, Any] = field(default_factory=dict)  # options of infer under which it repeats its answer
    needs: tuple[str, ...] = ()  # packages that fit needs
    learner: dict[str, Any] = field(default_factory=few_steps)  # options of fit that end soon
    others: tuple[Any, ...] = ()  # further models of this kind, different from each other
    em_problem: Callable[[np.random.Generator], tuple[Any, list[Any]]] | None = None  # as in `em_problems.py`

    def answers(self, verb: str) -> bool:
        """Whether a verb answers for this kind; else a sentence in `UNANSWERED` says why not."""
        return why_unanswered(type(self.model), verb) is None

    @property
    def has_most_probable(self) -> bool:
        return self.answers("most_probable")

    @property
    def is_learned(self) -> bool:
        """Whether fit takes such models."""
        return what_it_does(jt.fit, type(self.learned or self.model)) is not None

    @property
    def can_be_learned(self) -> bool:
        """Whether fit takes them, and the packages are here that it needs."""
        return self.is_learned and all(find_spec(package) is not None for package in self.needs)


def network() -> Kind:
    a, b = jt.Variable("a", ["no", "yes"]), jt.Variable("b", ["no", "yes"])
    model = jt.BayesianNetwork([jt.Conditional(a, [], [0.7, 0.3]), jt.Conditional(b, [a], [[1.0, 0.0], [0.4, 0.6]])])
    return Kind(
        model,
        one={"b": "no"},
        many=[{"b": "no"}, {"b": "yes"}, {}],
        num_many=3,
        variable="a",
        label="yes",
        methods=("junction-tree", "junction-tree"),
        impossible_one={"a": "no", "b": "yes"},
        impossible_many=[{"b": "no"}, {"a": "no", "b": "yes"}],
        impossible=(1,),
        dirichlet=lambda count: jt.Dirichlet([count, count]),
        table=lambda model: model["b"].values,
    )


def markov_network() -> Kind:
    kind = network()
    return Kind(**{**vars(kind), "model": kind.model.to_markov_network(), "learned": kind.model, "dirichlet": None})


def hidden_markov() -> Kind:
    model = jt.HiddenMarkovModel(
        [0.6, 0.4],
        [[0.9, 0.1], [0.2, 0.8]],
        [[0.7, 0.3, 0.0], [0.1, 0.9, 0.0]],
        states=["dry", "wet"],
    )
    return Kind(
        model,
        one=[0, 1, 1],
        many=[[0, 1], [1, 1, 0]],
        num_many=2,
        variable="state",
        label="wet",
        methods=("forward-backward", "viterbi"),
        impossible_one=[0, 2],
        impossible_many=[[0, 1], [0, 2]],
        impossible=(1,),
        dirichlet=lambda count: jt.HiddenMarkovPrior(
            jt.Dirichlet([count] * 2), jt.Dirichlet([count] * 2), jt.Dirichlet([count] * 3)
        ),
        table=lambda model: np.hstack([model.transition, model.emissions.probabilities]),
        per_sequence=True,
        sampled=jt.Sequence,
    )


def markov_chain() -> Kind:
    model = jt.MarkovChain([[0.9, 0.1], [0.0, 1.0]], [0.5, 0.5], states=["sun", "rain"])
    return Kind(
        model,
        one=["sun", None, "rain"],
        many=[["sun", None], ["rain", None, None]],
        num_many=2,
        variable="state",
        label="rain",
        methods=("forward-backward", "viterbi"),
        impossible_one=["rain", "sun"],
        impossible_many=[["sun"], ["rain", "sun"]],
        impossible=(1,),
        dirichlet=lambda count: jt.Dirichlet([count, count]),
        table=lambda model: model.transition,
        per_sequence=True,
        sampled=jt.Sequence,
    )


def conditional_random_field() -> Kind:
    model = jt.ConditionalRandomField(["n", "v"], ["x", "y"], [[0.5, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-np.inf, 0.5]])
    many = [[["x"], ["y"]], [["y"], ["x"], ["x", "y"]]]
    return Kind(
        model,
        one=[{"x": 1.0}, {"y": 2.0}, {}],
        many=many,
        num_many=2,
        variable="state",
        label="v",
        methods=("forward-backward", "viterbi"),
        per_sequence=True,
        labelled=list(zip(many, [["n", "v"], ["n", "n", "v"]], strict=True)),
        learner={"penalty": jt.L2(1.0)},
    )


def state_space() -> Kind:
    model = jt.LinearGaussianStateSpace(
        [[0.9, 0.1], [0.0, 0.8]], [[1.0, 0.5]], np.eye(2) * 0.4, [[0.3]], np.zeros(2), np.eye(2)
    )
    return Kind(
        model,
        one=[0.5, np.nan, 1.0],
        many=[np.array([0.5, 1.0]), np.array([0.2, 0.1, 0.4])],
        num_many=2,
        variable="state",
        label=None,
        methods=("kalman", "kalman"),
        per_sequence=True,
        sampled=jt.Sequence,
    )


def mixture_of_numbers() -> Kind:
    return Kind(
        jt.Mixture([0.25, 0.75], jt.Exponential([1.0, 5.0])),
        one=0.5,
        many=[0.5, 2.0, np.nan],
        num_many=3,
        variable="component",
        label=1,
        methods=("enumeration", "enumeration"),
        impossible_one=-1.0,
        impossible_many=[0.5, -1.0],
        impossible=(1,),
        dirichlet=lambda count: jt.MixturePrior(jt.Dirichlet([count, count])),
        table=lambda model: model.weights,
    )


def mixture_of_columns() -> Kind:
    parts = [jt.Independent([jt.Gaussian(mean, 1.0), jt.Poisson(rate)]) for mean, rate in ((0.0, 2.0), (3.0, 9.0))]
    return Kind(
        jt.Mixture([0.5, 0.5], parts),
        one=[0.5, 3.0],
        many=np.array([[0.5, 3.0], [np.nan, 8.0]]),
        num_many=2,
        variable="component",
        label=0,
        methods=("enumeration", "enumeration"),
        impossible_one=[0.5, -1.0],
        impossible_many=[[0.5, 1.0], [0.5, -1.0]],
        impossible=(1,),
        dirichlet=lambda count: jt.MixturePrior(jt.Dirichlet([count, count])),
        table=lambda model: model.weights,
    )


def factor_analysis() -> Kind:
    return Kind(
        jt.FactorAnalysis([[1.0, 0.0], [1.0, -1.0], [0.5, 2.0]], [0.0, 1.0, 2.0], [0.5, 1.0, 2.0]),
        one=[0.5, np.nan, 1.0],
        many=np.array([[0.5, 3.0, 1.0], [np.nan, 8.0, 0.0], [np.nan, np.nan, np.nan]]),
        num_many=3,
        variable="factors",
        label=None,
        methods=("gaussian", "gaussian"),
    )


def probabilistic_pca() -> Kind:
    model = jt.ProbabilisticPCA([[1.0, 0.0], [1.0, -1.0], [0.5, 2.0]], [0.0, 1.0, 2.0], 0.5)
    return replace(factor_analysis(), model=model)


def independent_components() -> Kind:
    return Kind(
        jt.IndependentComponents([[2.0, 1.0], [0.5, -1.0]], [1.0, 2.0], [jt.StudentT(3.0), bent_density()]),
        one=[0.5, 1.0],
        many=np.array([[0.5, 3.0], [2.0, 8.0], [-1.0, 0.0]]),
        num_many=3,
        variable="sources",
        label=None,
        methods=("unmixing", ""),
        em_problem=unmixing_problem,
    )


def independent_factors() -> Kind:
    model = jt.IndependentFactors(
        [[1.0, 0.0], [1.0, -1.0], [0.5, 2.0]], [0.0, 1.0, 2.0], [0.5, 1.0, 2.0], [jt.Laplace(0.0, 1.0), bent_density()]
    )
    return replace(
        factor_analysis(), model=model, variable="sources", methods=("quadrature", ""), em_problem=sparse_problem
    )


def bent_density() -> jt.Mixture:
    return jt.Mixture([0.3, 0.7], jt.Gaussian([-1.0, 1.0], [0.5, 0.2]))


def unmixing_problem(rng: np.random.Generator) -> tuple[Any, list[Any]]:
    rows, weights = (
        np.array(jt.sample(independent_components().model, 60, rng=rng).to_pandas()),
        rng.uniform(0.5, 2.0, 60),
    )
    sources = [[jt.Laplace(0.0, 1.0), bent_density()], [jt.StudentT(2.0), jt.Gaussian(0.0, 1.0)]][rng.integers(2)]
    template = jt.IndependentComponents.standard(2, sources)
    problem = UnmixingProblem(template, lambda: iter([(rows, weights)]), "data", rng)
    return problem, [(rows[:25], weights[:25]), (rows[25:], weights[25:])]


def sparse_problem(rng: np.random.Generator) -> tuple[Any, list[Any]]:
    template = jt.IndependentFactors.standard(6, 1, bent_density())
    true = jt.IndependentFactors(rng.uniform(1.0, 2.0, (6, 1)), rng.normal(size=6), 1.0, template.sources)
    rows, weights = np.array(jt.sample(true, 40, rng=rng).to_pandas()), rng.uniform(0.5, 2.0, 40)
    rows[::7, rng.integers(6)] = np.nan
    problem = FactorsProblem(template, lambda: iter([(rows, weights)]), "data", rng)
    return problem, [(rows[:15], weights[:15]), (rows[15:], weights[15:])]


def topics() -> Kind:
    return Kind(
        jt.LatentDirichletAllocation([[0.6, 0.4, 0.0, 0.0], [0.1, 0.1, 0.8, 0.0]], [0.5, 1.5], ["a", "b", "c", "d"]),
        one=[2, 1, 0, 0],
        many=np.array([[2, 1, 0, 0], [0, 0, 0, 0], [0, 3, 1, 0]]),
        num_many=3,
        variable="shares",
        label=None,
        methods=("mean-field", ""),
        impossible_one=[1, 0, 0, 1],
        impossible_many=[[1, 0, 0, 0], [1, 0, 0, 2]],
        impossible=(1,),
        is_exact=False,
        learner={"max_steps": 3},
    )


ROWS = [[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 0]]
W, V = [[1.0, -0.5], [-1.0, 2.0], [0.5, 0.3]], [0.0, 0.3, -0.4]


def machine() -> Kind:
    return Kind(
        jt.RestrictedBoltzmannMachine(W, V, [0.2, -0.1]),
        one=[1, 0, 1],
        many=[*ROWS, [1, np.nan, 0]],
        num_many=5,
        variable="h0",
        label=1,
        methods=("enumeration", "enumeration"),
        learner={"epochs": 2},
    )


def gaussian_machine() -> Kind:
    model = jt.RestrictedBoltzmannMachine(W, V, [0.2, -0.1], "gaussian")
    rows = np.array([[0.5, 1.0, -1.0], [0.0, np.nan, 2.0]])
    return replace(machine(), model=model, one=[0.5, 1.0, -1.0], many=rows, num_many=2)


def belief_network() -> Kind:
    return replace(
        machine(),
        model=jt.neural.DeepBeliefNetwork([W, [[0.7, -1.0], [0.2, 0.4]]], [V, [0.2, -0.1], [0.0, 0.5]]),
        many=ROWS,
        num_many=4,
        variable="h1_0",
        methods=("upward", ""),
        is_exact=False,
    )


def deep_machine() -> Kind:
    model = jt.neural.DeepBoltzmannMachine([W, [[0.7, -1.0], [0.2, 0.4]]], [V, [0.2, -0.1], [0.0, 0.5]])
    return replace(belief_network(), model=model, methods=("mean-field", ""))


def helmholtz_machine() -> Kind:
    model = jt.neural.HelmholtzMachine(W, V, [0.2, -0.1], [[0.9, -0.4], [-0.8, 1.5], [0.4, 0.2]], [0.1, -0.2])
    return replace(belief_network(), model=model, variable="h0", methods=("recognition", ""))


def autoencoder() -> Kind:
    return Kind(
        jt.neural.Autoencoder.random(3, 2, hidden=[4], rng=0),
        one=[0.5, 0.0, 1.0],
        many=np.array([[0.5, 3.0, 1.0], [2.0, 8.0, 0.0], [1.0, 4.0, 0.5], [0.0, 5.0, 1.5]]),  # some are held out
        num_many=4,
        variable="code",
        label=None,
        methods=("", ""),
        is_exact=False,
        learner={"epochs": 2},
        needs=("jax", "optax"),
    )


def variational_autoencoder() -> Kind:
    model = jt.neural.VariationalAutoencoder.random(3, 2, hidden=[4], rng=0)
    return replace(autoencoder(), model=model, variable="z", methods=("encoder", ""), asked={"rng": 0})


def energy() -> Kind:
    return Kind(
        student_t_energy([1.5], [0.7]),
        one=0.5,
        many=[0.5, -2.0, 1.0],
        num_many=3,
        variable="x",
        label=None,
        methods=("", ""),
        learner={"max_steps": 3},
    )


def energy_of_states() -> Kind:
    scope = jt.results.Scope([jt.Variable("a", 2), jt.Variable("b", [-1, 1])])
    model = jt.neural.EnergyModel(product_energy, product_gradient, [0.3, -0.8], scope)
    return replace(energy(), model=model, one=[1, -1], many=[[1, -1], [0, 1]], num_many=2, variable="a")


def product_energy(x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return -parameters[0] * x[:, 0] - parameters[1] * x[:, 0] * x[:, 1]


def product_gradient(x: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    return -np.stack([x[:, 0], x[:, 0] * x[:, 1]], axis=1)


INPUTS: dict[str, list[float]] = {"size": [0.0, 2.0, -1.0, 1.0, 3.0, -2.0], "age": [0.0, 1.0, 2.0, -1.0, 0.5, 1.0]}
YES_OR_NO = ["no", "yes", "no", "no", "yes", "yes"]


def supervised(model: Any, targets: Any, label: Any = None, method: str = "closed-form", **others: Any) -> Kind:
    """An entry of a model of the target "y" given "size" and "age"."""
    return Kind(
        model.with_feature_names(list(INPUTS)),
        **{
            "one": {"size": 0.4, "age": 1.0},
            "many": {name: column[:4] for name, column in INPUTS.items()},
            "num_many": 4,
            "variable": "y",
            "label": label,
            "methods": (method, method),
            "labelled": jt.Dataset({**INPUTS, "y": targets}),
            "learner": {},
            **others,
        },
    )


def regression(model: Any) -> Kind:
    return supervised(model, [0.5, 2.0, 0.0, 1.0, 3.5, -1.0])


def linear_regression() -> Kind:
    return regression(sv.LinearRegression([0.5, 1.0, -0.2], 0.2))


def bayesian_regression() -> Kind:
    return regression(sv.BayesianLinearRegression([0.5, 1.0, -0.2], 9.0 * np.eye(3), 5.0))


def conjugate_regression() -> Kind:
    return regression(sv.ConjugateLinearRegression([0.5, 1.0, -0.2], 9.0 * np.eye(3), 5.0, 1.0))


def counts_regression() -> Kind:
    model = sv.GeneralizedLinearModel(jt.Poisson, [0.1, 0.2, -0.2])
    return supervised(model, [0, 2, 1, 1, 3, 0])


def logistic_regression() -> Kind:
    return supervised(sv.LogisticRegression(["no", "yes"], [0.2, 1.0, -0.5]), YES_OR_NO, "yes")


def laplace_logistic() -> Kind:
    model = sv.LaplaceLogistic(sv.LogisticRegression(["no", "yes"], [0.2, 1.0, -0.5]), 0.5 * np.eye(3), -3.0)
    return supervised(model, YES_OR_NO, "yes", "quadrature")


def generative_classifier() -> Kind:
    """A joint distribution of the class and its row, which is drawn without inputs."""
    return replace(
        mixture_of_numbers(),
        model=sv.GenerativeClassifier([0.25, 0.75], jt.Exponential([1.0, 5.0]), ["no", "yes"]),
        many=[[0.5], [2.0], [np.nan]],
        variable="y",
        label="yes",
        methods=("closed-form", "closed-form"),
        impossible_many=[[0.5], [-1.0]],
        dirichlet=None,
        table=None,
        learner={"families": "exponential"},
    )


def tree(*statistics: list[float]) -> sv.DecisionTree:
    """A node that asks for the size, and the counts of the two classes in its two leaves."""
    inputs, target = [jt.Variable(name) for name in INPUTS], jt.Variable("y", ["no", "yes"])
    counts = [np.sum(statistics, axis=0).tolist(), *statistics]
    return sv.DecisionTree(inputs, target, [0, -1, -1], [0.5, np.nan, np.nan], [2, 0, 0], [0, 0, 1], counts)


def decision_tree() -> Kind:
    return supervised(
        tree([1.0, 3.0], [2.0, 0.0]),
        YES_OR_NO,
        "yes",
        impossible_one={"size": 2.0, "age": 0.0, "y": "yes"},
        impossible_many={"size": [0.0, 2.0], "age": [0.0, 0.0], "y": ["no", "yes"]},
        impossible=(1,),
    )


def random_forest() -> Kind:
    return replace(decision_tree(), model=sv.RandomForest([tree([1.0, 3.0], [2.0, 0.0]), tree([2.0, 3.0], [1.0, 0.0])]))


def boundary(model: Any, targets: Any = YES_OR_NO, **learner: Any) -> Kind:
    """A classifier by a boundary, which has no probabilities."""
    return supervised(model, targets, "yes", "", is_exact=False, learner=learner)


def hyperplane() -> Kind:
    return boundary(sv.Hyperplane([1.0, -0.5], 0.2, ["no", "yes"]))


def maximum_margin() -> Kind:
    points = np.transpose(list(INPUTS.values()))[:2]
    return boundary(sv.MaximumMargin(points, [0, 1], [0.4, 0.4], -1.0, cost=1.0, classes=["no", "yes"]), cost=1.0)


LEVELS = ["high", "low", "middle"]


def several(kind: type) -> Kind:
    """Three classes by three discriminants, or by two of classes in an order."""
    planes = [sv.Hyperplane(weights, 0.2) for weights in ([1.0, 0.5], [-1.0, 0.2], [0.5, 1.0])]
    model = kind(LEVELS, planes[: 2 if kind is sv.OrderedClassifier else 3])
    return replace(boundary(model, LEVELS * 2), label="low")


def threshold_network() -> Kind:
    return boundary(sv.threshold_network([0, 1, 1, 0]), [0, 1, 1, 0, 1, 0])


KINDS: dict[str, Callable[[], Kind]] = {
    "network": network,
    "markov network": markov_network,
    "hidden Markov model": hidden_markov,
    "Markov chain": markov_chain,
    "conditional random field": conditional_random_field,
    "state space": state_space,
    "mixture of numbers": mixture_of_numbers,
    "mixture of columns": mixture_of_columns,
    "factor analysis": factor_analysis,
    "probabilistic PCA": probabilistic_pca,
    "independent components": independent_components,
    "independent factors": independent_factors,
    "topics": topics,
    "machine": machine,
    "Gaussian machine": gaussian_machine,
    "deep belief network": belief_network,
    "deep Boltzmann machine": deep_machine,
    "Helmholtz machine": helmholtz_machine,
    "autoencoder": autoencoder,
    "variational autoencoder": variational_autoencoder,
    "energy": energy,
    "energy of states": energy_of_states,
    "linear regression": linear_regression,
    "Bayesian linear regression": bayesian_regression,
    "conjugate linear regression": conjugate_regression,
    "regression of counts": counts_regression,
    "logistic regression": logistic_regression,
    "Laplace approximation": laplace_logistic,
    "generative classifier": generative_classifier,
    "decision tree": decision_tree,
    "random forest": random_forest,
    "hyperplane": hyperplane,
    "maximum margin": maximum_margin,
    "each against the rest": partial(several, sv.OneVersusRest),
    "all pairs": partial(several, sv.AllPairs),
    "classes in an order": partial(several, sv.OrderedClassifier),
    "threshold network": threshold_network,
}


def models_of(names: Iterable[str]) -> list[Any]:
    """The models of these entries."""
    kinds = [KINDS[name]() for name in names]
    return [model for kind in kinds for model in (kind.model, *kind.others)]


def entries_by_class() -> dict[str, list[str]]:
    """The class of the models of the entries → the names of those entries."""
    found: dict[str, list[str]] = {}
    for name, make in KINDS.items():
        found.setdefault(type(make().model).__name__, []).append(name)
    return found
