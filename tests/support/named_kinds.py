"""Kinds of models that take rows of columns: how each is learned from a table, and what it answers about one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import juncture as jt
from juncture import supervised as sv
from juncture.data.rows import find_names
from support.learned import fit_least_squares, fit_maximum_margin, fit_perceptron, minimize_risk, of_many

COLUMNS = ("a", "b", "c")
GENERATOR = np.random.default_rng(0)
NUMBERS = (GENERATOR.normal(size=(40, 3)) + GENERATOR.normal(size=(40, 1))) * [1.0, 2.0, 0.5] + [0.0, 1.0, 3.0]
ROWS = {"numbers": NUMBERS, "binary": (NUMBERS > [0.0, 1.0, 3.0]).astype(float)}
TARGETS = NUMBERS @ [1.0, -2.0, 0.5] + 0.1 * GENERATOR.normal(size=40)
SECOND = np.median(TARGETS) < TARGETS
GROUPS = np.array(["low", "middle", "high"])[np.digitize(TARGETS, np.quantile(TARGETS, [0.3, 0.7]))]
COUNTS = GENERATOR.poisson(np.exp(0.1 * TARGETS))


class Named(NamedTuple):
    """A kind: the model of a table, and answers about the rows of a table, as arrays."""

    name: str
    learn: Callable[[Any], Any]
    ask: Callable[[Any, Any], list[Any]]
    rows: str = "numbers"


def ask_discriminant(model: Any, rows: Any) -> list[Any]:
    return [model.activation(rows), model.predict(rows)]


def ask_classes(model: Any, rows: Any) -> list[Any]:
    codes = {label: code for code, label in enumerate(model.classes)}
    return [model.activations(rows), [codes[label] for label in model.predict(rows).tolist()]]


def ask_log_prob(model: Any, rows: Any) -> list[Any]:
    return [jt.log_prob(model, rows)]


def fit_model(model: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda rows: jt.fit(model, rows, **options).model


def two_gaussians() -> jt.Mixture:
    means, covariances = [[-1.0, 0.0, 3.0], [1.0, 2.0, 3.5]], [np.eye(3)] * 2
    return jt.Mixture([0.5, 0.5], jt.MultivariateGaussian(means, covariances))


def learn_machine(rows: Any) -> Any:
    return fit_maximum_margin(rows, SECOND, cost=1.0, kernel=sv.GaussianKernel(0.5))


def name_columns(model: Any) -> Callable[[Any], Any]:
    """A model that is not learned, with the names of a table."""
    return lambda rows: model.with_feature_names(find_names(rows))


SHORT = {"epochs": 2, "rng": 0}
KINDS = [
    Named(
        "LinearRegression",
        lambda rows: jt.fit(sv.LinearRegression, rows, TARGETS).model,
        lambda m, rows: [m.mean(rows)],
    ),
    Named(
        "RidgePath",
        lambda rows: sv.ridge_path(rows, TARGETS, [0.1, 1.0], sv.PolynomialBasis(2)),
        lambda m, rows: [m.best.mean(rows)],
    ),
    Named(
        "BayesianLinearRegression",
        lambda rows: sv.BayesianLinearRegression.standard(4).update(rows, TARGETS),
        lambda m, rows: [m.predict(rows).mean, m.predict(rows).variance, [m.log_evidence(rows, TARGETS)]],
    ),
    Named(
        "ConjugateLinearRegression",
        lambda rows: sv.ConjugateLinearRegression.standard(4).update(rows, TARGETS),
        lambda m, rows: [m.predict(rows).location, m.predict(rows).scale],
    ),
    Named(
        "evidence",
        lambda rows: jt.fit(sv.BayesianLinearRegression, rows, TARGETS).model,
        lambda m, rows: [m.plug_in.mean(rows)],
    ),
    Named(
        "compare_bases",
        lambda rows: sv.compare_bases(rows, TARGETS, [sv.LinearBasis(), sv.PolynomialBasis(2)]).best,
        lambda m, rows: [m.predict(rows).mean],
    ),
    Named(
        "LogisticRegression",
        lambda rows: jt.fit(sv.LogisticRegression, rows, GROUPS, penalty=jt.L2(1.0)).model,
        lambda m, rows: [m.predict_proba(rows), m.log_prob(rows, GROUPS)],
    ),
    Named(
        "GeneralizedLinearModel",
        lambda rows: jt.fit(sv.GeneralizedLinearModel, rows, COUNTS, family=jt.Poisson).model,
        lambda m, rows: [m.mean(rows)],
    ),
    Named("least squares", lambda rows: fit_least_squares(rows, SECOND, 1.0), ask_discriminant),
    Named("perceptron", lambda rows: fit_perceptron(rows, SECOND, epochs=2000).model, ask_discriminant),
    Named("empirical risk", lambda rows: minimize_risk(rows, SECOND, penalty=0.1).model, ask_discriminant),
    Named("MaximumMargin", learn_machine, ask_discriminant),
    Named("OneVersusRest", lambda rows: of_many(sv.OneVersusRest, sv.Hyperplane, rows, GROUPS), ask_classes),
    Named("AllPairs", lambda rows: of_many(sv.AllPairs, sv.Hyperplane, rows, GROUPS), ask_classes),
    Named(
        "OrderedClassifier",
        lambda rows: of_many(sv.OrderedClassifier, sv.Hyperplane, rows, GROUPS, classes=["low", "middle", "high"]),
        ask_classes,
    ),
    Named(
        "naive Bayes",
        lambda rows: jt.fit(sv.GenerativeClassifier, rows, GROUPS).model,
        lambda m, rows: [m.predict_proba(rows), m.log_prob(rows)],
    ),
    Named("Mixture", fit_model(two_gaussians(), rng=0), lambda m, rows: [jt.infer(m, rows)["component"].values]),
    Named("Mixture.log_prob", fit_model(two_gaussians(), rng=0), ask_log_prob),
    Named(
        "choose_components",
        lambda rows: jt.clusters.choose_components(two_gaussians(), rows, [1]).model,
        ask_log_prob,
    ),
    Named(
        "FactorAnalysis",
        fit_model(jt.FactorAnalysis.standard(3, 1)),
        lambda m, rows: [jt.infer(m, rows).mean, jt.log_prob(m, rows)],
    ),
    Named("ProbabilisticPCA", fit_model(jt.ProbabilisticPCA.standard(3, 1)), ask_log_prob),
    Named(
        "PrincipalComponents",
        lambda rows: jt.clusters.principal_components(rows, 2),
        lambda m, rows: [m.project(rows), m.reconstruct(rows)],
    ),
    Named("Clusters", lambda rows: jt.clusters.k_means(rows, 2, restarts=0), lambda m, rows: [m.predict(rows)]),
    Named(
        "RestrictedBoltzmannMachine",
        fit_model(jt.RestrictedBoltzmannMachine.random(3, 2, rng=0), **SHORT),
        lambda m, rows: [m.free_energy(rows), jt.log_prob(m, rows)],
        "binary",
    ),
    Named(
        "DeepBeliefNetwork",
        fit_model(jt.neural.DeepBeliefNetwork.random([3, 2, 2], rng=0), **SHORT),
        ask_log_prob,
        "binary",
    ),
    Named(
        "DeepBoltzmannMachine",
        fit_model(jt.neural.DeepBoltzmannMachine.random([3, 2, 2], rng=0), **SHORT),
        ask_log_prob,
        "binary",
    ),
    Named("Autoencoder", name_columns(jt.neural.Autoencoder.random(3, 1, rng=0)), lambda m, rows: [m.encode(rows)]),
    Named(
        "VariationalAutoencoder",
        name_columns(jt.neural.VariationalAutoencoder.random(3, 1, rng=0)),
        lambda m, rows: [m.encode(rows).mean],
    ),
    Named(
        "HelmholtzMachine", fit_model(jt.neural.HelmholtzMachine.random(3, 2, rng=0), **SHORT), ask_log_prob, "binary"
    ),
]
