"""Every public function, constructor and method with arguments that it takes, found by walking the public names.

A public name whose parameters `public_examples` cannot fill fails `test_wrong_kinds`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from juncture import estimators
from juncture.families.family import Family
from support import decision_kinds, linear_kinds, regression_kinds, tree_kinds
from support.public_arguments import INSTANCES, example_argument, training_rows
from support.public_examples import CALLS
from support.public_names import public_things

# What only the library makes and hands on: a method that takes such a thing is not called by users.
MADE_INSIDE = {
    "Findings", "Columns", "EMProblem", "NetworkProblem", "Sequences", "ScoreCache", "EdgeConstraints", "Lowered",
    "EmissionStatistics", "Answers", "Filtered", "Smoothed", "TableCounts", "np.ndarray", "np.random.Generator",
    "frozenset[int]", "frozenset[str]", "set[str]",
}  # fmt: skip
FOR_THE_LIBRARY = {  # what models, engines, learners, searches and scikit-learn have for themselves
    "answer", "answer_row", "ask", "with_budget", "is_quick",
    "packed_model", "part_for", "packed", "plan", "check_order", "check_length",
    "check_inputs", "climb", "to_sequences", "choice", "choose_for", "answer_reduced",
    "trusted", "bounds", "in_order", "of", "pair_type", "log_prior", "get_metadata_routing", "set_fit_request",
    "set_predict_request", "set_score_request", "set_predict_proba_request", "set_predict_log_proba_request",
    "set_partial_fit_request",
    "set_params", "get_params", "initial_states", "next_states", "log_likelihoods", "log_transitions", "draw_initial",
    "draw_next", "learn", "solve", "divide",
    "predict_target", "predict_joint", "diagnostics_of", "read_inputs", "dataset_of", "read_values", "read_moments",
    "renamed",
    "algorithm_of", "take_facts", "with_seed", "with_model", "with_further", "part_of",
    "combine", "hidden_input", "visible_input", "log_weight", "length",
}  # fmt: skip
OF_EXTRAS = {
    "amortized_variational",
    "black_box_variational",
    "sample_log_density",
    "from_pgmpy",
    "to_pgmpy",
    "from_pyagrum",
    "to_pyagrum",
}  # which need another package, and have tests of their own
ANSWERS = {  # constructed by the library; their methods are for users
    *linear_kinds.ANSWERS,
    *regression_kinds.ANSWERS,
    *decision_kinds.ANSWERS,
    *tree_kinds.ANSWERS,
    "AnnealedEstimate",
    "AnyConditional",
    "BayesFactor",
    "BayesianComparison",
    "BlockAnswers",
    "ModelComparison",
    "ModelScore",
    "PredictiveScore",
    "RiskDecomposition",
    "BootstrapError",
    "CrossValidation",
    "NetworkReport",
    "NumberReport",
    "ScoreBands",
    "VariableReport",
    "Calibration",
    "ConfusionMatrix",
    "Cost",
    "ScoreCurve",
    "Beliefs",
    "BoltzmannBeliefs",
    "ChainBeliefs",
    "ChainFilter",
    "ChainForecast",
    "ChainRun",
    "ClusterChoice",
    "DiscriminativeClusters",
    "SourceBeliefs",
    "Clusters",
    "ComponentChoice",
    "DeepBeliefs",
    "EncodedBeliefs",
    "DimensionChoice",
    "EdgePosteriors",
    "EdgeStrengths",
    "FactorBeliefs",
    "FactorStatistics",
    "Fit",
    "FriedmanTest",
    "GraphComparison",
    "HeldOutScore",
    "InformationValues",
    "HiddenMarkovStatistics",
    "Imputed",
    "KalmanFilter",
    "LearnerComparison",
    "LearnerPair",
    "MarkovChainStatistics",
    "MixedJoint",
    "MixtureBeliefs",
    "MostProbable",
    "MostProbablePath",
    "MostProbableRows",
    "RankedAnswers",
    "Plan",
    "NetworkStatistics",
    "PageRank",
    "ParticleBeliefs",
    "PrincipalComponents",
    "SearchResult",
    "StateSpaceBeliefs",
    "StateSpaceForecast",
    "StructuralRisk",
    "TestResult",
    "ThresholdFit",
    "TopicBeliefs",
    "Trace",
    "Trail",
    "TransitionMatrix",
}
OPERATORS = {
    "__getitem__", "__contains__", "__add__", "__radd__", "__sub__", "__mul__", "__rmul__", "__truediv__",
    "__rtruediv__", "__matmul__", "__and__", "__or__", "__lt__", "__call__",
}  # fmt: skip


class Call(NamedTuple):
    """A public callable, its signature, and arguments that it takes by the names of its parameters."""

    name: str
    function: Callable[..., Any]
    signature: inspect.Signature
    arguments: Mapping[str, Any]

    def run(self, **others: Any) -> Any:
        """Call with others in place of some arguments; of many, as in `*names`, in place of them all."""
        kinds = self.signature.parameters
        packed = {
            name: (value,) if kinds[name].kind is kinds[name].VAR_POSITIONAL else value
            for name, value in others.items()
        }
        bound = inspect.BoundArguments(self.signature, {**self.arguments, **packed})  # type: ignore[arg-type]
        return self.function(*bound.args, **bound.kwargs)

    @property
    def replaceable(self) -> list[str]:
        return [name for name, p in self.signature.parameters.items() if p.kind is not p.VAR_KEYWORD]


def public_calls() -> list[Call]:
    """All of them, in a fixed order."""
    found = []
    for _, name, thing in public_things():
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            found += calls_of_class(thing)
        elif inspect.isfunction(thing) and name not in OF_EXTRAS:
            found += [call_of(name, thing, example) for example in CALLS.get(name, [{}])]
    for name in estimators.__all__:
        found += calls_of_class(getattr(estimators, name))
    return found


def calls_of_class(kind: type) -> Iterator[Call]:
    """Its constructor, class methods, and the methods and operators of its instances."""
    name = kind.__name__
    if kind is getattr(estimators, name, None):  # a model may have the same name
        yield Call(name, partial(construct_and_fit, kind), inspect.signature(kind), {})
    elif name not in ANSWERS:
        own = dict(getattr(INSTANCES.get(name, [None])[0], "_given", {}))  # of a family
        yield from (call_of(name, kind, example) for example in CALLS.get(name, [own]))
    instances = [instance for instance in INSTANCES.get(name, []) if isinstance(instance, kind)]
    for place, instance in enumerate(instances):
        for method in methods_of(kind):
            yield from calls_of_method(kind, instance, method, "" if place == 0 else f"#{place}")


def construct_and_fit(kind: type, *arguments: Any, **options: Any) -> Any:
    """An estimator looks at its options when it fits."""
    return kind(*arguments, **options).fit(*training_rows(kind.__name__))


def calls_of_method(kind: type, instance: Any, method: str, mark: str) -> Iterator[Call]:
    function = getattr(instance, method)
    if method == "__getitem__" and isinstance(instance, Family) and not instance.batch_shape:
        return  # there is nothing to index
    qualified = f"{kind.__name__}.{method}"
    if takes_users_things(function):
        for example in CALLS.get(qualified, [{}]):
            yield call_of(qualified + mark, function, example, instance)


def methods_of(kind: type) -> list[str]:
    found = []
    for name in dir(kind):
        static = inspect.getattr_static(kind, name)
        is_ours = any(name in vars(base) and base.__module__.startswith("juncture") for base in kind.__mro__)
        is_method = callable(getattr(kind, name, None)) and not isinstance(static, property | type)
        is_named = not name.startswith("_") or name in OPERATORS
        if is_ours and is_method and is_named and name not in FOR_THE_LIBRARY:
            found.append(name)
    return found


def takes_users_things(function: Callable[..., Any]) -> bool:
    """Whether it has parameters, and none of them is of a kind that only the library makes."""
    parameters = inspect.signature(function).parameters.values()
    return bool(parameters) and not any(str(p.annotation) in MADE_INSIDE for p in parameters)


def call_of(name: str, function: Callable[..., Any], arguments: Mapping[str, Any], owner: Any = None) -> Call:
    """The call with the example's arguments, and those that the names of other parameters suggest."""
    signature = signature_of(function, arguments)
    names = list(signature.parameters)
    arguments = {key if key in names else names[place]: value for place, (key, value) in enumerate(arguments.items())}
    for parameter in signature.parameters.values():
        is_needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        if is_needed and parameter.name not in arguments:
            example = example_argument(name, parameter.name, owner)
            is_one = parameter.kind is not parameter.VAR_POSITIONAL or isinstance(example, tuple)
            arguments[parameter.name] = example if is_one else (example,)
    if isinstance(owner, Family) and any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        arguments.setdefault("known", example_argument(name, "known", owner))
    return Call(name, function, signature, arguments)


def signature_of(function: Callable[..., Any], arguments: Mapping[str, Any]) -> inspect.Signature:
    """A verb has the signature that it has for the model of the example."""
    if not hasattr(function, "dispatch"):
        return inspect.signature(function)
    model = next(iter(arguments.values()))
    with suppress(Exception):
        function(model)  # which teaches the verb this kind of model
    return inspect.signature(function.dispatch(type(model)))
