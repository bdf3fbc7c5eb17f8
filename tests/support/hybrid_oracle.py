"""Hybrid networks by brute force: a dense Gaussian for every configuration of the states, conditioned step by step."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import juncture as jt

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "networks" / "gaussian"
FOLDERS = (FOLDER, Path("/work/shared/networks/gaussian"))
POINT = 1e-9  # a variance below this share of the prior one counts as 0


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


@dataclass
class Case:
    """One configuration: its states, how many relations hold exactly, its log-weight, and a Gaussian of all numbers."""

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
        weight = 0.0
        for variable in self.discrete:
            table, value = self.model[variable.name], self.evidence.get(variable.name)
            p = table.values[tuple(codes[parent] for parent in table.parents.names)][codes[variable.name]]
            if isinstance(value, list):
                p *= value[codes[variable.name]]
            elif value is not None and variable.code(value) != codes[variable.name]:
                p = 0.0
            weight += math.log(p) if p else -math.inf
        return self.condition(codes, weight, *self.prior(codes))

    def prior(self, codes):
        """The joint Gaussian of all numbers given the states, each after its parents."""
        mean, covariance = np.zeros(len(self.real)), np.zeros((len(self.real), len(self.real)))
        for at, name in enumerate(self.real):
            part = self.model[name]
            if isinstance(part, jt.Constant):
                mean[at] = float(part.value)
                continue
            index = tuple(codes[parent.name] for parent in part.parents if not parent.is_real)
            row = np.zeros(len(self.real))
            row[[self.real.index(parent.name) for parent in part.parents if parent.is_real]] = part.coefficients[index]
            mean[at] = part.intercept[index] + row @ mean
            covariance[at, at] = part.variance[index] + row @ covariance @ row
            covariance[at, :at] = covariance[:at, at] = (covariance @ row)[:at]
        return mean, covariance

    def condition(self, codes, weight, mean, covariance):
        num_exact, prior = 0, np.diag(covariance).copy()
        for at, name in enumerate(self.real):
            value = self.evidence.get(name)
            if value is None:
                continue
            variance, error = covariance[at, at], value - mean[at]
            if variance <= POINT * max(prior[at], 1e-300):
                num_exact += 1
                weight += 0.0 if abs(error) <= 1e-7 * (1 + abs(value)) else -math.inf
            else:
                weight += -0.5 * (error**2 / variance + math.log(2 * math.pi * variance))
                gain = covariance[:, at] / variance
                mean, covariance = mean + gain * error, covariance - np.outer(gain, covariance[at])
            covariance[at, :] = covariance[:, at] = 0.0
            mean[at] = value
        return Case(codes, num_exact, weight, mean, covariance)

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
                if deviation > 1e-7
                else float(x >= case.mean[at])
            )
            total += weight * step
        return total
