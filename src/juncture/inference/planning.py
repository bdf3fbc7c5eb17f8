"""`cost` and `compile`: what exact inference takes before it runs, and a plan that serves many runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from juncture.base.checks import shown
from juncture.base.compilation import COMPILED, Path, compilation, on_path
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator, as_names, as_seed
from juncture.base.values import SameContent
from juncture.data.findings import Findings
from juncture.errors import InvalidData, InvalidModel, Unsupported, hint
from juncture.evidence import as_findings
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import NO_COST, Cost, Engine, EnginePlan, Query
from juncture.inference.engines.lowering import check_factors, determined_nodes, has_real_variables, lower
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.engines.verb_options import check_policy
from juncture.inference.exact.junction_tree.choice import choose
from juncture.inference.exact.junction_tree.marginal_map import plan_targets
from juncture.inference.infer import EXACT_METHODS, REAL_METHODS, as_targets, engine_for
from juncture.networks.factor_product import FactorProduct

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

VERBS = ("infer", "most_probable")
MOST_TO_LOAD = 1e9  # operations, a second: kernels are loaded in less


@one_path
def cost(
    model: Network, *, observed: Sequence[str] = (), targets: Sequence[str] | None = None, verb: str = "infer"
) -> Cost:
    """What an exact answer for one row of evidence takes, without running it.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    observed
        The names of the variables that evidence will give. Where the tables are to be reduced by it first, the cost
        is that of the reduced tables.
    targets
        The variables that are asked for; all by default. Naming them limits the cost to their part of a Bayesian
        network.
    verb
        "infer", or "most_probable": several targets are then maximised after all others were summed out, which may
        take much larger tables.

    Returns
    -------
    Cost
        The width, the entries of the largest table, the bytes and the arithmetic operations of a run; printed, it says
        too which junction tree runs, and why.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> cost(example("asia")).width
    2
    """
    check_factors(model, "cost")
    if not isinstance(verb, str) or verb not in VERBS:
        raise Unsupported(f"there is no cost of the verb {shown(verb)}; {hint(str(verb), VERBS)}")
    if has_real_variables(model):
        engine = engine_for("exact", model=model)
        return engine.compile(model, as_names(observed, "observed"), as_targets(model, targets)).cost
    part = needed_part(model, observed, targets)
    found = choose(part, frozenset(observed)).explained_cost
    return found if verb == "infer" else found.with_further(mode_cost(part, observed, as_targets(model, targets)))


def mode_cost(model: Network, observed: Sequence[str], targets: Sequence[str]) -> Cost:
    """What the search for the best states of the targets takes after inference: nothing more for all, or for one."""
    lowered = lower(model)
    nodes = {name: node for node, name in enumerate(lowered.scope.names)}
    seen = frozenset(nodes[name] for name in observed)
    free = frozenset(nodes[name] for name in targets) - seen
    if len(targets) == 1 or len(free | seen | determined_nodes(lowered.scope.names)) == len(nodes):
        return NO_COST
    return plan_targets(lowered.scopes, lowered.scope.shape, seen, free).cost


@one_path
def compile(  # noqa: A001  the verb of every engine
    model: Network,
    *,
    observed: Sequence[str] = (),
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    memory_limit: int | None = None,
) -> Plan:
    """A plan for the marginals of `targets` given any values of `observed`, for every model of this structure.

    The machine code of the kernels that an exact engine runs is loaded too, if it is on disk: a service that compiles
    its plans when it starts does not wait for it in its first answer.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    observed, targets
        As in `cost`.
    method
        The name of an engine, or a configured engine.
    memory_limit
        In bytes; a plan that needs more raises `TooLarge`.

    Returns
    -------
    Plan
        `plan.run(model, evidence)` gives beliefs; `plan.cost` says what a run takes.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.example("asia")
    >>> plan = jt.compile(model, observed=["xray"], targets=["lung"])
    >>> plan.cost.width, round(plan.run(model, {"xray": "yes"})["lung"]["yes"], 4)
    (2, 0.4887)
    """
    check_factors(model, "compile")
    engine = engine_for(method, memory_limit, model=model)
    names = as_targets(model, targets)
    part = needed_part(model, observed, targets)
    plan = engine.compile(
        part, as_names(observed, "observed") if has_real_variables(part) else part.variables.names, names
    )
    plan.prepare()
    if engine.name in EXACT_METHODS | REAL_METHODS:
        load_kernels(plan, part)
    return Plan(engine, plan, model, part, names)


def load_kernels(plan: EnginePlan, part: Any) -> None:
    """Run a plan without evidence, on one row and on two, so that the kernels of later runs are loaded by then."""
    operations = plan.cost.operations
    if compilation() == "never" or operations > MOST_TO_LOAD:
        return
    with on_path(COMPILED if compilation() == "always" else Path(None, partial(float, operations))):
        for num_rows in (None, 2):
            plan.run(part, Query(Findings(tuple(part.variables), {}, {}, {}, num_rows=num_rows)))


@dataclass(frozen=True, eq=False)
class Plan(SameContent):
    """A compiled query: the engine, its plan, and the variables that the query needs.

    It is equal to another of the same engine, for the same part of the same model, and the same targets.
    """

    engine: Engine
    plan: EnginePlan = field(compare=False)
    model: Network  # that the plan was compiled for
    part: Any  # of the model: what the targets and the observed variables need
    targets: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that evidence may name."""
        return self.part.variables.names

    @property
    def cost(self) -> Cost:
        return self.plan.cost

    def run(self, model: Network, evidence: Any = None, *, on_impossible: str = "warn", rng: Any = None) -> Beliefs:
        """The beliefs of a model of the plan's structure, whatever its numbers, given evidence as `infer` takes it.

        `rng` is a seed or a generator, for engines that draw at random.
        """
        check_policy(on_impossible)
        check_factors(model, "a plan")
        part = self.part if model is self.model else self.part_of(model)
        findings = self.inside(as_findings(evidence, model.variables))
        seed = as_seed(rng) if self.engine.draws_at_random else None
        generator = None if seed is None else as_generator(seed)
        answers = self.plan.run(part, Query(findings, rng=generator))
        beliefs = Beliefs(model, self.engine, self.targets, answers, findings.is_single, seed=seed)
        check_possible(beliefs, on_impossible)
        return beliefs

    def inside(self, findings: Findings) -> Findings:
        """The findings, restricted to the variables of the part of the model that the plan runs on."""
        for name in findings.names:
            if name not in self.variables:
                raise InvalidData(f"{name!r} is not part of this plan; name it in observed= when compiling")
        num_rows = None if findings.is_single else findings.num_rows
        known = findings.codes, findings.reals, findings.likelihoods
        return Findings(tuple(self.part.variables), *known, num_rows=num_rows, index=findings.index)

    def part_of(self, model: Network) -> Any:
        """The part of another model that the plan is for; raises for another structure."""
        is_known = set(self.variables) <= set(model.variables.names)
        part = relevant_part(model, self.variables) if is_known else model
        if part.variables.names != self.variables or not has_same_structure(part, self.part):
            raise InvalidModel("the plan was compiled for another structure; compile one for this model")
        return part

    def __repr__(self) -> str:
        return f"Plan(for {len(self.targets)} of {len(self.variables)} variables; {self.cost})"


def has_same_structure(one: Any, other: Any) -> bool:
    """Whether two models have factors of the same scopes over variables of the same numbers of states."""
    if has_real_variables(one) or has_real_variables(other):
        return families_of(one) == families_of(other)
    mine, theirs = lower(one), lower(other)
    return mine.scope.shape == theirs.scope.shape and mine.scopes == theirs.scopes


def families_of(model: Network) -> list[tuple[str, ...]]:
    if isinstance(model, FactorProduct):
        return [part.scope.names for part in model.factors]
    return [(part.child.name, *part.parents.names) for part in model.conditionals]


def needed_part(model: Network, observed: Sequence[str], targets: Sequence[str] | None) -> Any:
    seen = [model.variable(name).name for name in as_names(observed, "observed")]
    return model if targets is None else relevant_part(model, {*as_targets(model, targets), *seen})
