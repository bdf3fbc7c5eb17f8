"""Hybrid networks in rational arithmetic: a Gaussian for every configuration of the states, conditioned in steps."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from support.gaussian_oracles import log_fraction

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "networks" / "gaussian"
FOLDERS = (FOLDER, Path("/work/shared/networks/gaussian"))
TOLERANCE = Fraction(1, 10**9)  # how far evidence may be off a relation, relative to the terms


def published(name):
    """A network of the folder of public Gaussian and hybrid networks; the test is skipped without the folder."""
    path = next((folder / f"{name}.json.gz" for folder in FOLDERS if folder.is_dir()), None)
    if path is None:
        pytest.skip("the folder of published networks is not here")
    nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
    known = {each: jt.Variable(each, node["states"]) for each, node in nodes.items()}
    return jt.BayesianNetwork([read_node(known, each, node) for each, node in nodes.items()])


def read_node(known, name, node):
    if node["states"] is not None:
        return jt.Conditional(known[name], [known[parent] for parent in node["parents"]], node["table"])
    parents = [known[parent] for parent in (*node["discrete_parents"], *node["real_parents"])]
    shape = (*np.shape(node["intercept"]), len(node["real_parents"]))
    coefficients = np.reshape(np.array(node["coefficients"], float), shape)
    return jt.LinearGaussian(known[name], parents, coefficients, node["intercept"], node["variance"])


def fractions(values):
    """An array of numbers as one of fractions."""
    return np.array([Fraction(float(value)) for value in np.ravel(values)], object).reshape(np.shape(values))


@dataclass
class Case:
    """One configuration: its states, how many relations hold exactly, its log-weight, and a Gaussian of all numbers.

    Means and covariances are doubles that were rounded once.
    """

    codes: dict[str, int]
    num_exact: int
    log_weight: float
    mean: np.ndarray
    covariance: np.ndarray


class Oracle:
    """All cases that the evidence allows, of those with the most exact relations."""

    def __init__(self, model, evidence):
        self.model, self.evidence = model, evidence
        self.discrete = [variable for variable in model.variables if not variable.is_real]
        self.real = [name for name in model.graph.topological_order() if model.variable(name).is_real]
        configurations = itertools.product(*(range(variable.num_states) for variable in self.discrete))
        names = [variable.name for variable in self.discrete]
        cases = [self.case(dict(zip(names, codes, strict=True))) for codes in configurations]
        cases = [case for case in cases if case.log_weight > -math.inf]
        most = max((case.num_exact for case in cases), default=0)
        self.cases = [case for case in cases if case.num_exact == most]
        tops = np.array([case.log_weight for case in self.cases])
        self.log_evidence = float(np.logaddexp.reduce(tops)) if len(tops) else -math.inf
        self.weights = np.exp(tops - self.log_evidence) if len(tops) else tops

    def case(self, codes):
        weight = Fraction(1)
        for variable in self.discrete:
            table, value = self.model[variable.name], self.evidence.get(variable.name)
            p = table.values[tuple(codes[parent] for parent in table.parents.names)][codes[variable.name]]
            weight *= Fraction(float(p))
            if isinstance(value, list):
                weight *= Fraction(value[codes[variable.name]])
            elif value is not None and variable.code(value) != codes[variable.name]:
                weight = Fraction(0)
        return self.condition(codes, log_fraction(weight) if weight else -math.inf, *self.prior(codes))

    def prior(self, codes):
        """The joint Gaussian of all numbers given the states, each after its parents."""
        size = len(self.real)
        mean, covariance = fractions(np.zeros(size)), fractions(np.zeros((size, size)))
        for at, name in enumerate(self.real):
            part = self.model[name]
            if isinstance(part, jt.results.Constant):
                mean[at] = Fraction(float(part.value))
                continue
            index = tuple(codes[parent.name] for parent in part.parents if not parent.is_real)
            row = fractions(np.zeros(size))
            places = [self.real.index(parent.name) for parent in part.parents if parent.is_real]
            row[places] = fractions(part.coefficients[index])
            mean[at] = Fraction(float(part.intercept[index])) + row @ mean
            covariance[at, at] = Fraction(float(part.variance[index])) + row @ covariance @ row
            covariance[at, :at] = covariance[:at, at] = (covariance @ row)[:at]
        return mean, covariance

    def condition(self, codes, log_weight, mean, covariance):
        num_exact = 0
        for at, name in enumerate(self.real):
            if self.evidence.get(name) is None or log_weight == -math.inf:
                continue
            value = Fraction(self.evidence[name])
            variance, error = covariance[at, at], value - mean[at]
            if variance == 0:
                num_exact += 1
                log_weight += 0.0 if abs(error) <= TOLERANCE * (1 + abs(value) + abs(mean[at])) else -math.inf
            else:
                log_weight -= 0.5 * (float(error**2 / variance) + math.log(2 * math.pi) + log_fraction(variance))
                gain = covariance[:, at] / variance
                mean, covariance = mean + gain * error, covariance - np.outer(gain, covariance[at])
            mean[at] = value
        return Case(codes, num_exact, log_weight, mean.astype(float), covariance.astype(float))

    def probabilities(self, *names):
        """p(names | evidence)."""
        table = np.zeros([self.model.variable(name).num_states for name in names])
        for weight, case in zip(self.weights, self.cases, strict=True):
            table[tuple(case.codes[name] for name in names)] += weight
        return table

    def moments(self, *names):
        """The mean and the covariance of some numbers."""
        at = [self.real.index(name) for name in names]
        mean = sum(weight * case.mean[at] for weight, case in zip(self.weights, self.cases, strict=True))
        spread = [
            case.covariance[np.ix_(at, at)] + np.outer(case.mean[at] - mean, case.mean[at] - mean)
            for case in self.cases
        ]
        return mean, sum(weight * each for weight, each in zip(self.weights, spread, strict=True))

    def cdf(self, name, x):
        at = self.real.index(name)
        total = 0.0
        for weight, case in zip(self.weights, self.cases, strict=True):
            deviation = math.sqrt(max(case.covariance[at, at], 0.0))
            step = (
                0.5 * math.erfc(-(x - case.mean[at]) / deviation / math.sqrt(2))
                if deviation > 0
                else float(x >= case.mean[at])
            )
            total += weight * step
        return total
