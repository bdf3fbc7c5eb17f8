"""`IndependenceTransition`: Metropolis-Hastings whose proposals are draws of another model, whatever the present state.

With q the proposing model, z ~ q is accepted with probability min(1, π(z) q(x) / (π(x) q(z))): the chain stays where
π / q is large. It converges at a geometric rate if π / q is bounded, in the number 1 - min q / π.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, InvalidModel
from juncture.inference.engines.contract import Answers, Question
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.sampling.markov_chains.chains import Chain, Spread
from juncture.inference.sampling.markov_chains.targets import Target

DRAWS = frozenset({Question.DRAWS, Question.LOG_EVIDENCE})
ATTEMPTS = 1000  # draws, to find a start
BLOCK = 256  # steps whose proposals are drawn at once, by a generator of their own
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class IndependenceTransition:
    """Steps to draws of another model, given the same evidence."""

    model: Any
    target: Target
    kept_nodes: np.ndarray
    proposal: Any
    answers: Answers  # of the proposing model, given the evidence

    @classmethod
    def of(cls, model: Any, target: Target, kept_nodes: np.ndarray, proposal: Any) -> IndependenceTransition:
        own, theirs = model.variables, proposal.variables
        if set(own.names) != set(theirs.names) or any(proposal.variable(one.name) != one for one in own):
            raise InvalidModel("a proposing model has the same variables as the model, with the same states")
        if target.arrays.num_nodes > len(own):
            raise InvalidModel("a proposing model takes models whose conditionals are tables")
        starts = target.arrays.state_starts
        fields = {one.name: target.field[starts[node] : starts[node + 1]] for node, one in enumerate(own)}
        soft = {name: np.exp(logs - logs.max())[np.newaxis] for name, logs in fields.items() if logs.any()}
        findings = Findings(tuple(theirs), likelihoods=soft)
        plan = JunctionTree().compile(proposal, findings.names, theirs.names)
        return cls(model, target, kept_nodes, proposal, plan.run(proposal, findings, questions=DRAWS))

    @property
    def work(self) -> float:
        return 100.0 * self.target.arrays.num_nodes

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        if self.answers.log_evidence[0] == -np.inf:
            raise ImpossibleEvidence("the evidence has probability zero in the proposing model")
        codes, log_ratios = self.propose(ATTEMPTS, rng)
        found = np.flatnonzero(log_ratios > -np.inf)
        if not len(found):
            raise ImpossibleEvidence(
                f"none of {ATTEMPTS} draws of the proposing model has positive probability in the model"
            )
        return codes[found[0]]

    def propose(self, num_draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(draw, node) codes, and (draw,) log π / q up to a constant."""
        columns = self.answers.sample(num_draws, rng)
        codes = np.stack([columns[name] for name in self.model.variables.names], axis=1).astype(np.int64)
        return codes, self.log_ratios(codes)

    def log_ratios(self, codes: np.ndarray) -> np.ndarray:
        """(assignment,): log π - log q, up to a constant; the likelihood of the evidence is in both."""
        columns = {name: codes[:, node] for node, name in enumerate(self.model.variables.names)}
        return self.target.log_joints(codes) - self.proposal.log_joint_of(columns) - self.log_fields(codes)

    def log_fields(self, codes: np.ndarray) -> np.ndarray:
        return np.asarray(self.target.field[self.target.arrays.state_starts[:-1] + codes].sum(axis=1))

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        present, end = float(self.log_ratios(chain.codes[np.newaxis])[0]), chain.num_sweeps + num_sweeps
        for block in range(chain.num_sweeps // BLOCK, -(-end // BLOCK)):
            child = np.random.default_rng([*chain.keys.tolist(), block])
            codes, log_ratios = self.propose(BLOCK, child)
            thresholds = np.log(np.maximum(child.random(BLOCK), TINY))
            for step in range(max(0, chain.num_sweeps - block * BLOCK), min(BLOCK, end - block * BLOCK)):
                if thresholds[step] < log_ratios[step] - present:
                    chain.codes[:], present = codes[step], log_ratios[step]
                done = block * BLOCK + step + 1 - chain.num_sweeps
                if len(kept) and done % thin == 0:
                    kept[done // thin - 1] = chain.codes[self.kept_nodes]
