# What type checkers know of the verbs: which answer each kind of model gives; its options are in `jt.methods(model)`.
# The last overload of a verb has the options that all kinds share; tests/typing/ holds the overloads to the verbs.

from collections.abc import Collection, Iterable
from collections.abc import Sequence as Steps
from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from juncture.base.methods import MethodList
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.sequences import Sequence, Sequences
from juncture.families.family import Family
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.latent.boltzmann.deep.belief_network import DeepBeliefNetwork
from juncture.latent.boltzmann.deep.beliefs import DeepBeliefs
from juncture.latent.boltzmann.deep.boltzmann_machine import DeepBoltzmannMachine
from juncture.latent.boltzmann.infer import BoltzmannBeliefs
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.energy import EnergyModel
from juncture.latent.factor_analysis.beliefs import FactorBeliefs
from juncture.latent.factor_analysis.infer import MostProbableFactors
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.latent.mixtures.beliefs import MixtureBeliefs
from juncture.latent.neural.autoencoder import Autoencoder
from juncture.latent.neural.helmholtz import HelmholtzMachine
from juncture.latent.neural.variational_autoencoder import EncodedBeliefs, VariationalAutoencoder
from juncture.latent.topics.infer import TopicBeliefs
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.learning.fit import Fit
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.undirected.statistics import FactorStatistics
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct, MarkovNetwork
from juncture.sequences.conditional_random_field.model import ConditionalRandomField
from juncture.sequences.hidden_markov.beliefs import ChainBeliefs
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.most_probable import MostProbablePath
from juncture.sequences.hidden_markov.online_filter import ChainFilter
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics
from juncture.sequences.markov_chains.fit import MarkovChainStatistics
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.state_space.beliefs import StateSpaceBeliefs
from juncture.sequences.state_space.infer import MostProbableStates
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.online_filter import KalmanFilter
from juncture.supervised.answers import TargetBeliefs
from juncture.supervised.model import SupervisedModel
from juncture.variables import Model

class Table(Protocol):  # an array, a series or a frame
    def __array__(self, *arguments: Any, **options: Any) -> Numbers: ...

Network: TypeAlias = BayesianNetwork | FactorProduct
Chain: TypeAlias = HiddenMarkovModel | MarkovChain
StateSpace: TypeAlias = LinearGaussianStateSpace
SequenceModel: TypeAlias = Chain | StateSpace
Rows: TypeAlias = Dataset | list[dict[str, Any]]
Numbers: TypeAlias = np.ndarray[Any, Any]
Many: TypeAlias = Steps[Numbers] | Steps[Sequence]  # sequences
OneOrMany: TypeAlias = Steps[Steps[Any]]  # one sequence of vectors, or many of numbers
One: TypeAlias = Sequence | Steps[float | str | None] | Table  # one sequence
Lengths: TypeAlias = Iterable[int] | Numbers
OtherModel: TypeAlias = ConditionalRandomField | Autoencoder | HelmholtzMachine | EnergyModel
Learnable: TypeAlias = Model | Family | DirectedGraph | UndirectedGraph | type[Any]
M = TypeVar("M")

@overload
def infer(model: Network, evidence: Any = None, **options: Any) -> Beliefs: ...
@overload
def infer(model: Chain, evidence: Any, *, group: str, **options: Any) -> list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: Any, *, lengths: Lengths, **options: Any) -> list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: Many, *, lengths: None = None, **options: Any) -> list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: One, *, lengths: None = None, **options: Any) -> ChainBeliefs: ...
@overload
def infer(
    model: Chain, evidence: OneOrMany, *, lengths: None = None, **options: Any
) -> ChainBeliefs | list[ChainBeliefs]: ...
@overload
def infer(model: StateSpace, evidence: Any, *, group: str, **options: Any) -> list[StateSpaceBeliefs]: ...
@overload
def infer(model: StateSpace, evidence: Any, *, lengths: Lengths, **options: Any) -> list[StateSpaceBeliefs]: ...
@overload
def infer(model: StateSpace, evidence: Many, *, lengths: None = None, **options: Any) -> list[StateSpaceBeliefs]: ...
@overload
def infer(model: StateSpace, evidence: One, *, lengths: None = None, **options: Any) -> StateSpaceBeliefs: ...
@overload
def infer(
    model: StateSpace, evidence: OneOrMany, *, lengths: None = None, **options: Any
) -> StateSpaceBeliefs | list[StateSpaceBeliefs]: ...
@overload
def infer(model: SupervisedModel, evidence: Any, **options: Any) -> TargetBeliefs: ...
@overload
def infer(model: Mixture, evidence: Any, **options: Any) -> MixtureBeliefs: ...
@overload
def infer(model: LinearFactors, evidence: Any, **options: Any) -> FactorBeliefs: ...
@overload
def infer(model: LatentDirichletAllocation, evidence: Any, **options: Any) -> TopicBeliefs: ...
@overload
def infer(model: RestrictedBoltzmannMachine, evidence: Any, **options: Any) -> BoltzmannBeliefs: ...
@overload
def infer(model: DeepBeliefNetwork | DeepBoltzmannMachine, evidence: Any, **options: Any) -> DeepBeliefs: ...
@overload
def infer(model: VariationalAutoencoder, evidence: Any, **options: Any) -> EncodedBeliefs: ...
@overload
def infer(model: Chain, evidence: Sequences, **options: Any) -> Any: ...
@overload
def infer(
    model: OtherModel,
    evidence: Any = None,
    *,
    targets: Collection[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: str = "error",
    memory_limit: int | None = None,
    budget: float | None = None,
    rng: Any = None,
    **options: Any,
) -> Any: ...
@overload
def most_probable(model: Network, evidence: Any = None, *, k: int, **options: Any) -> list[MostProbable]: ...
@overload
def most_probable(model: Network, evidence: Rows, **options: Any) -> MostProbableRows: ...
@overload
def most_probable(
    model: Network, evidence: dict[str, Any] | None = None, *, k: None = None, **options: Any
) -> MostProbable: ...
@overload
def most_probable(model: Chain, evidence: One, *, k: int, **options: Any) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: Any, *, group: str, k: None = None, **options: Any
) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: Any, *, lengths: Lengths, k: None = None, **options: Any
) -> list[MostProbablePath]: ...
@overload
def most_probable(model: Chain, evidence: Many, *, k: None = None, **options: Any) -> list[MostProbablePath]: ...
@overload
def most_probable(model: Chain, evidence: One, *, k: None = None, **options: Any) -> MostProbablePath: ...
@overload
def most_probable(
    model: StateSpace, evidence: Any, *, lengths: Lengths, **options: Any
) -> list[MostProbableStates]: ...
@overload
def most_probable(model: StateSpace, evidence: Many, **options: Any) -> list[MostProbableStates]: ...
@overload
def most_probable(model: StateSpace, evidence: One, **options: Any) -> MostProbableStates: ...
@overload
def most_probable(model: Mixture | SupervisedModel, evidence: Any, *, k: int, **options: Any) -> list[MostProbable]: ...
@overload
def most_probable(model: Mixture, evidence: float, *, k: None = None, **options: Any) -> MostProbable: ...
@overload
def most_probable(model: Mixture, evidence: Dataset, *, k: None = None, **options: Any) -> MostProbableRows: ...
@overload
def most_probable(model: LinearFactors, evidence: Any, **options: Any) -> MostProbableFactors: ...
@overload
def most_probable(model: Chain, evidence: Sequences, **options: Any) -> Any: ...
@overload
def most_probable(
    model: OtherModel,
    evidence: Any = None,
    *,
    k: int | None = None,
    targets: Collection[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: str = "error",
    memory_limit: int | None = None,
    budget: float | None = None,
    rng: Any = None,
    **options: Any,
) -> Any: ...
@overload
def sample(model: Network | Mixture, n: int, **options: Any) -> Dataset: ...
@overload
def sample(
    model: SequenceModel | ConditionalRandomField | LinearFactors | LatentDirichletAllocation,
    n: int,
    *,
    given: Sequence | Steps[Any] | Numbers,
    **options: Any,
) -> Numbers: ...
@overload
def sample(model: SequenceModel, n: int, *, given: None = None, **options: Any) -> Sequence: ...
@overload
def sample(model: SequenceModel, n: Lengths, *, given: None = None, **options: Any) -> list[Sequence]: ...
@overload
def sample(model: SupervisedModel, n: Any, **options: Any) -> Dataset: ...
@overload
def sample(
    model: Model | Family, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto", **options: Any
) -> Any: ...
@overload
def log_prob(model: Network | Mixture | LinearFactors, rows: Rows, **options: Any) -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: Any, *, group: str, **options: Any) -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: Any, *, lengths: Lengths, **options: Any) -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: Many, **options: Any) -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: One, **options: Any) -> float: ...
@overload
def log_prob(model: Mixture, rows: float, **options: Any) -> float: ...
@overload
def log_prob(model: SequenceModel, rows: Sequences, **options: Any) -> Any: ...
@overload
def log_prob(
    model: Model | Family, rows: Any, y: Any = None, *, method: Any = "auto", extra: str = "error", **options: Any
) -> Any: ...
@overload
def online_filter(model: HiddenMarkovModel, *, lag: int = 0) -> ChainFilter: ...
@overload
def online_filter(model: StateSpace, *, lag: int = 0) -> KalmanFilter: ...
@overload
def fit(model: DirectedGraph, data: Any, **options: Any) -> Fit[BayesianNetwork]: ...
@overload
def fit(model: UndirectedGraph, data: Any, **options: Any) -> Fit[MarkovNetwork]: ...
@overload
def fit(model: type[M], data: Any, y: Any = None, **options: Any) -> Fit[M]: ...
@overload
def fit(
    model: M,
    data: Any,
    y: Any = None,
    *,
    prior: Any = None,
    method: Any = "auto",
    weights: Any = None,
    rng: Any = None,
    progress: Any = None,
    **options: Any,
) -> Fit[M]: ...
@overload
def statistics(model: BayesianNetwork | DirectedGraph, data: Any, **options: Any) -> NetworkStatistics: ...
@overload
def statistics(model: FactorProduct, data: Any, **options: Any) -> FactorStatistics: ...
@overload
def statistics(model: HiddenMarkovModel, data: Any, **options: Any) -> HiddenMarkovStatistics: ...
@overload
def statistics(model: MarkovChain, data: Any, **options: Any) -> MarkovChainStatistics: ...
@overload
def statistics(model: Learnable, data: Any, **options: Any) -> Any: ...
@overload
def estimate(
    model: DirectedGraph, statistics: NetworkStatistics, prior: Any = None, **options: Any
) -> BayesianNetwork: ...
@overload
def estimate(model: M, statistics: Any, prior: Any = None, **options: Any) -> M: ...
def methods(model: Learnable) -> MethodList: ...
