# What type checkers know of the verbs: one overload for each kind of model, so that answers complete by themselves.
# tests/typing/ checks that every overload has the options of its implementation and gives what it says.

from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Sequence as Steps
from typing import Any, Literal, NoReturn, Protocol, TypeAlias, TypedDict, Unpack, overload

import numpy as np

from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.sequences import Sequence, Sequences
from juncture.families.vectors.inverse_wishart import InverseWishart
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
from juncture.latent.factor_analysis.model import FactorAnalysis, LinearFactors, ProbabilisticPCA
from juncture.latent.mixtures.beliefs import MixtureBeliefs
from juncture.latent.neural.autoencoder import Autoencoder
from juncture.latent.neural.helmholtz import HelmholtzMachine
from juncture.latent.neural.variational_autoencoder import EncodedBeliefs, VariationalAutoencoder
from juncture.latent.topics.infer import TopicBeliefs
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.learning.fit import Fit
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.undirected.penalties import L1, L2
from juncture.learning.undirected.statistics import FactorStatistics
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork
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
from juncture.variables import Variable

class Table(Protocol):  # an array, a series or a frame
    def __array__(self, *arguments: Any, **options: Any) -> Numbers: ...

Network: TypeAlias = BayesianNetwork | FactorProduct
Directed: TypeAlias = BayesianNetwork | DirectedGraph
Chain: TypeAlias = HiddenMarkovModel | MarkovChain
StateSpace: TypeAlias = LinearGaussianStateSpace
SequenceModel: TypeAlias = HiddenMarkovModel | MarkovChain | LinearGaussianStateSpace
Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Dataset | list[dict[str, Any]]
NoisePriors: TypeAlias = Mapping[str, InverseWishart] | None
Numbers: TypeAlias = np.ndarray[Any, Any]
Many: TypeAlias = Steps[Numbers] | Steps[Sequence]  # sequences
OneOrMany: TypeAlias = Steps[Steps[Any]]  # one sequence of vectors, or many of numbers
One: TypeAlias = Sequence | Steps[float | str | None] | Table  # one sequence
Lengths: TypeAlias = Iterable[int] | Numbers
OnImpossible: TypeAlias = Literal["warn", "raise"]
Extra: TypeAlias = Literal["error", "ignore"]
OnUnseen: TypeAlias = Literal["uniform", "error"]
Point: TypeAlias = Literal["mean", "mode"]
Progress: TypeAlias = Callable[[int, float], object]

class Asking(TypedDict, total=False):
    method: Any
    on_impossible: OnImpossible
    budget: float | None
    memory_limit: int | None

class AskingNetworks(Asking, total=False):
    targets: Collection[str] | None
    extra: Extra
    rng: Any

class AskingPaths(Asking, total=False):
    trellis: bool

class Drawing(TypedDict, total=False):
    rng: Any
    method: Any

class DrawingStates(Drawing, total=False):
    covariates: Any

class Learning(TypedDict, total=False):
    weights: Any
    method: Any
    rng: Any
    progress: Progress | None

class LearningNetworks(Learning, total=False):
    variables: Iterable[Variable] | None
    latent: Iterable[str]
    fixed: Iterable[str]
    point: Point
    on_unseen: OnUnseen
    engine: Any
    missing: Any

class LearningCovariances(TypedDict, total=False):
    variables: Iterable[Variable] | None
    weights: Any
    missing: Any
    penalty: float | None
    tolerance: float
    max_steps: int
    progress: Progress | None

class LearningUndirected(Learning, total=False):
    penalty: L1 | L2 | None
    coupling: Any
    given: Iterable[str]
    latent: Iterable[str]
    missing: Any
    engine: Any
    tolerance: float
    max_steps: int

class LearningLabels(TypedDict, total=False):
    lengths: Any
    group: str | None
    states: str | None
    method: Any
    penalty: L1 | L2 | None
    weights: Any
    tolerance: float
    max_steps: int
    progress: Progress | None

class LearningNeural(TypedDict, total=False):
    rng: Any
    held_out: float
    batch_size: int
    learning_rate: float
    max_steps: int
    progress: Progress | None

class LearningHiddenMarkov(Learning, total=False):
    lengths: Any
    group: str | None
    states: str | None
    fixed: Collection[str]
    tied: Any
    point: Point
    start: Literal["given", "k-means", "random", "left-to-right"]
    on_unvisited: Literal["hold", "reseed"]

class LearningChains(Learning, total=False):
    lengths: Any
    group: str | None
    point: Point
    on_unseen: OnUnseen

class LearningStateSpace(Learning, total=False):
    lengths: Any
    group: str | None
    fixed: Iterable[str]

class LearningMachines(TypedDict, total=False):
    method: str
    chain_steps: int
    rate: float
    decay: float
    batch_size: int
    num_chains: int
    weights: Any
    tolerance: float
    max_steps: int
    progress: Progress | None
    rng: Any

class LearningMixtures(Learning, total=False):
    point: Point
    start: Literal["given", "random", "k-means"]
    hard: bool

class LearningFactors(Learning, total=False):
    start: Literal["data", "given", "random"]

@overload
def infer(model: Network, evidence: Any = None, **options: Unpack[AskingNetworks]) -> Beliefs: ...
@overload
def infer(
    model: HiddenMarkovModel, evidence: Any, *, group: str, states: str | None = None, **options: Unpack[Asking]
) -> list[ChainBeliefs]: ...
@overload
def infer(model: MarkovChain, evidence: Any, *, group: str, **options: Unpack[Asking]) -> list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: Any, *, lengths: Lengths, **options: Unpack[Asking]) -> list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: Many, *, lengths: None = None, **options: Unpack[Asking]) -> list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: One, *, lengths: None = None, **options: Unpack[Asking]) -> ChainBeliefs: ...
@overload
def infer(
    model: Chain, evidence: OneOrMany, *, lengths: None = None, **options: Unpack[Asking]
) -> ChainBeliefs | list[ChainBeliefs]: ...
@overload
def infer(model: Chain, evidence: Sequences, *, lengths: None = None, **options: Unpack[Asking]) -> Any: ...
@overload
def infer(model: StateSpace, evidence: Any, *, group: str, **options: Unpack[Asking]) -> list[StateSpaceBeliefs]: ...
@overload
def infer(
    model: StateSpace, evidence: Any, *, lengths: Lengths, **options: Unpack[Asking]
) -> list[StateSpaceBeliefs]: ...
@overload
def infer(
    model: StateSpace, evidence: Many, *, lengths: None = None, **options: Unpack[Asking]
) -> list[StateSpaceBeliefs]: ...
@overload
def infer(
    model: StateSpace, evidence: One, *, lengths: None = None, **options: Unpack[Asking]
) -> StateSpaceBeliefs: ...
@overload
def infer(
    model: StateSpace, evidence: OneOrMany, *, lengths: None = None, **options: Unpack[Asking]
) -> StateSpaceBeliefs | list[StateSpaceBeliefs]: ...
@overload
def infer(
    model: ConditionalRandomField,
    evidence: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    **options: Unpack[Asking],
) -> Any: ...
@overload
def infer(model: VariationalAutoencoder, evidence: Any, *, draws: int = 1000, rng: Any = None) -> EncodedBeliefs: ...
@overload
def infer(
    model: DeepBeliefNetwork,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: OnImpossible = "warn",
    draws: int = 100,
    rng: Any = None,
) -> DeepBeliefs: ...
@overload
def infer(
    model: DeepBoltzmannMachine,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: OnImpossible = "warn",
    tolerance: float = 1e-10,
    max_steps: int = 1000,
    log_partition: float | None = None,
    rng: Any = None,
) -> DeepBeliefs: ...
@overload
def infer(
    model: RestrictedBoltzmannMachine,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
    rng: Any = None,
) -> BoltzmannBeliefs: ...
@overload
def infer(model: Mixture, evidence: Any, **options: Unpack[Asking]) -> MixtureBeliefs: ...
@overload
def infer(model: LinearFactors, evidence: Any, **options: Unpack[Asking]) -> FactorBeliefs: ...
@overload
def infer(
    model: LatentDirichletAllocation,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
    tolerance: float = 1e-10,
    max_steps: int = 1000,
) -> TopicBeliefs: ...
@overload
def most_probable(model: LatentDirichletAllocation, evidence: Any, **options: Any) -> NoReturn: ...
@overload
def most_probable(
    model: Network, evidence: Row | None = None, *, k: int, **options: Unpack[AskingNetworks]
) -> list[MostProbable]: ...
@overload
def most_probable(
    model: Network, evidence: Row | None = None, *, k: None = None, **options: Unpack[AskingNetworks]
) -> MostProbable: ...
@overload
def most_probable(
    model: Network, evidence: Rows, *, k: None = None, **options: Unpack[AskingNetworks]
) -> MostProbableRows: ...
@overload
def most_probable(model: Network, evidence: Any, *, k: int | None = None, **options: Unpack[AskingNetworks]) -> Any: ...
@overload
def most_probable(
    model: HiddenMarkovModel,
    evidence: Any,
    *,
    group: str,
    k: int,
    states: str | None = None,
    **options: Unpack[AskingPaths],
) -> list[list[MostProbablePath]]: ...
@overload
def most_probable(
    model: HiddenMarkovModel,
    evidence: Any,
    *,
    group: str,
    k: None = None,
    states: str | None = None,
    **options: Unpack[AskingPaths],
) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: MarkovChain, evidence: Any, *, group: str, k: int, **options: Unpack[AskingPaths]
) -> list[list[MostProbablePath]]: ...
@overload
def most_probable(
    model: MarkovChain, evidence: Any, *, group: str, k: None = None, **options: Unpack[AskingPaths]
) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: One, *, k: int, lengths: None = None, **options: Unpack[AskingPaths]
) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: Any, *, k: int, lengths: Lengths, **options: Unpack[AskingPaths]
) -> list[list[MostProbablePath]]: ...
@overload
def most_probable(
    model: Chain, evidence: Many, *, k: int, lengths: None = None, **options: Unpack[AskingPaths]
) -> list[list[MostProbablePath]]: ...
@overload
def most_probable(
    model: Chain, evidence: Any, *, k: None = None, lengths: Lengths, **options: Unpack[AskingPaths]
) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: Many, *, k: None = None, lengths: None = None, **options: Unpack[AskingPaths]
) -> list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: One, *, k: None = None, lengths: None = None, **options: Unpack[AskingPaths]
) -> MostProbablePath: ...
@overload
def most_probable(
    model: Chain, evidence: OneOrMany, *, k: None = None, lengths: None = None, **options: Unpack[AskingPaths]
) -> MostProbablePath | list[MostProbablePath]: ...
@overload
def most_probable(
    model: Chain, evidence: Sequences, *, k: int | None = None, lengths: None = None, **options: Unpack[AskingPaths]
) -> Any: ...
@overload
def most_probable(
    model: ConditionalRandomField,
    evidence: Any,
    *,
    k: int | None = None,
    lengths: Any = None,
    group: str | None = None,
    **options: Unpack[AskingPaths],
) -> Any: ...
@overload
def most_probable(
    model: RestrictedBoltzmannMachine,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: Literal["warn", "raise"] = "warn",
    rng: Any = None,
) -> MostProbable | MostProbableRows: ...
@overload
def most_probable(
    model: StateSpace, evidence: Any, *, group: str, **options: Unpack[Asking]
) -> list[MostProbableStates]: ...
@overload
def most_probable(
    model: StateSpace, evidence: Any, *, lengths: Lengths, **options: Unpack[Asking]
) -> list[MostProbableStates]: ...
@overload
def most_probable(
    model: StateSpace, evidence: Many, *, lengths: None = None, **options: Unpack[Asking]
) -> list[MostProbableStates]: ...
@overload
def most_probable(
    model: StateSpace, evidence: One, *, lengths: None = None, **options: Unpack[Asking]
) -> MostProbableStates: ...
@overload
def most_probable(
    model: StateSpace, evidence: OneOrMany, *, lengths: None = None, **options: Unpack[Asking]
) -> MostProbableStates | list[MostProbableStates]: ...
@overload
def most_probable(model: Mixture, evidence: Any, *, k: int, **options: Unpack[Asking]) -> list[MostProbable]: ...
@overload
def most_probable(model: Mixture, evidence: float, *, k: None = None, **options: Unpack[Asking]) -> MostProbable: ...
@overload
def most_probable(
    model: Mixture, evidence: Dataset, *, k: None = None, **options: Unpack[Asking]
) -> MostProbableRows: ...
@overload
def most_probable(
    model: Mixture, evidence: Any, *, k: None = None, **options: Unpack[Asking]
) -> MostProbable | MostProbableRows: ...
@overload
def most_probable(model: LinearFactors, evidence: Any, **options: Unpack[Asking]) -> MostProbableFactors: ...
@overload
def sample(model: LinearFactors, n: int, *, given: None = None, **options: Unpack[Drawing]) -> Dataset: ...
@overload
def sample(model: LinearFactors, n: int, *, given: Any, **options: Unpack[Drawing]) -> Numbers: ...
@overload
def sample(
    model: VariationalAutoencoder | HelmholtzMachine, n: int, *, given: None = None, rng: Any = None
) -> Dataset: ...
@overload
def sample(
    model: DeepBeliefNetwork | DeepBoltzmannMachine, n: int, *, given: None = None, rng: Any = None, steps: int = 1000
) -> Dataset: ...
@overload
def sample(
    model: RestrictedBoltzmannMachine,
    n: int,
    *,
    given: Any = None,
    rng: Any = None,
    method: str = "auto",
    steps: int = 1000,
) -> Dataset: ...
@overload
def sample(
    model: LatentDirichletAllocation,
    n: int,
    *,
    given: None = None,
    rng: Any = None,
    method: str = "auto",
    length: int | Lengths = 100,
) -> Dataset: ...
@overload
def sample(
    model: LatentDirichletAllocation,
    n: int,
    *,
    given: Any,
    rng: Any = None,
    method: str = "auto",
    length: int | Lengths = 100,
) -> Numbers: ...
@overload
def sample(model: Network | Mixture, n: int, *, given: Any = None, **options: Unpack[Drawing]) -> Dataset: ...
@overload
def sample(model: Chain, n: int, *, given: None = None, **options: Unpack[Drawing]) -> Sequence: ...
@overload
def sample(model: Chain, n: Lengths, *, given: None = None, **options: Unpack[Drawing]) -> list[Sequence]: ...
@overload
def sample(model: Chain, n: int, *, given: Any, **options: Unpack[Drawing]) -> Numbers: ...
@overload
def sample(model: ConditionalRandomField, n: int, *, given: Any, **options: Unpack[Drawing]) -> Numbers: ...
@overload
def sample(model: StateSpace, n: int, *, given: None = None, **options: Unpack[DrawingStates]) -> Sequence: ...
@overload
def sample(
    model: StateSpace, n: Lengths, *, given: None = None, **options: Unpack[DrawingStates]
) -> list[Sequence]: ...
@overload
def sample(model: StateSpace, n: int, *, given: Any, **options: Unpack[DrawingStates]) -> Numbers: ...
@overload
def log_prob(model: Network, rows: Rows, *, method: Any = "auto", extra: Extra = "error") -> Numbers: ...
@overload
def log_prob(model: Network, rows: Any, *, method: Any = "auto", extra: Extra = "error") -> Any: ...
@overload
def log_prob(
    model: HiddenMarkovModel, rows: Any, *, group: str, states: str | None = None, method: Any = "auto"
) -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: Any, *, group: str, method: Any = "auto") -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: Any, *, lengths: Lengths, method: Any = "auto") -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: Many, *, lengths: None = None, method: Any = "auto") -> Numbers: ...
@overload
def log_prob(model: SequenceModel, rows: One, *, lengths: None = None, method: Any = "auto") -> float: ...
@overload
def log_prob(model: SequenceModel, rows: Sequences, *, lengths: None = None, method: Any = "auto") -> Any: ...
@overload
def log_prob(
    model: ConditionalRandomField,
    rows: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    method: Any = "auto",
) -> Any: ...
@overload
def log_prob(model: Mixture, rows: float, *, method: Any = "auto") -> float: ...
@overload
def log_prob(model: Mixture, rows: Dataset, *, method: Any = "auto") -> Numbers: ...
@overload
def log_prob(model: Mixture, rows: Any, *, method: Any = "auto") -> Any: ...
@overload
def log_prob(model: LinearFactors, rows: Dataset, *, method: Any = "auto") -> Numbers: ...
@overload
def log_prob(model: LinearFactors, rows: Any, *, method: Any = "auto") -> Any: ...
@overload
def log_prob(model: HelmholtzMachine, rows: Any, *, method: str = "auto") -> Any: ...
@overload
def log_prob(model: DeepBeliefNetwork, rows: Any, *, method: str = "auto") -> Any: ...
@overload
def log_prob(
    model: DeepBoltzmannMachine, rows: Any, *, method: str = "auto", log_partition: float | None = None
) -> Any: ...
@overload
def log_prob(
    model: RestrictedBoltzmannMachine, rows: Any, *, method: str = "auto", log_partition: float | None = None
) -> Any: ...
@overload
def log_prob(
    model: LatentDirichletAllocation, rows: Any, *, method: str = "auto", num_particles: int = 100, rng: Any = 0
) -> Any: ...
@overload
def log_prob(model: EnergyModel, rows: Any) -> Numbers: ...
@overload
def online_filter(model: HiddenMarkovModel, *, lag: int = 0) -> ChainFilter: ...
@overload
def online_filter(model: StateSpace, *, lag: int = 0) -> KalmanFilter: ...
@overload
def fit(
    structure: Directed, data: Any, prior: Any = None, **options: Unpack[LearningNetworks]
) -> Fit[BayesianNetwork]: ...
@overload
def fit(
    structure: UndirectedGraph, data: Any, prior: None = None, **options: Unpack[LearningCovariances]
) -> Fit[MarkovNetwork]: ...
@overload
def fit(
    structure: MarkovNetwork, data: Any, prior: None = None, **options: Unpack[LearningUndirected]
) -> Fit[MarkovNetwork]: ...
@overload
def fit(
    structure: FactorGraph, data: Any, prior: None = None, **options: Unpack[LearningUndirected]
) -> Fit[FactorGraph]: ...
@overload
def fit(structure: FactorProduct, data: Any, prior: None = None, **options: Unpack[LearningUndirected]) -> Fit[Any]: ...
@overload
def fit(
    structure: HiddenMarkovModel, data: Any, prior: Any = None, **options: Unpack[LearningHiddenMarkov]
) -> Fit[HiddenMarkovModel]: ...
@overload
def fit(
    structure: ConditionalRandomField, data: Any, prior: None = None, **options: Unpack[LearningLabels]
) -> Fit[ConditionalRandomField]: ...
@overload
def fit(
    structure: Autoencoder, data: Any, prior: None = None, **options: Unpack[LearningNeural]
) -> Fit[Autoencoder]: ...
@overload
def fit(
    structure: VariationalAutoencoder, data: Any, prior: None = None, **options: Unpack[LearningNeural]
) -> Fit[VariationalAutoencoder]: ...
@overload
def fit(
    structure: HelmholtzMachine,
    data: Any,
    prior: None = None,
    *,
    rate: float = 0.1,
    batch_size: int = 20,
    max_steps: int = 50,
    progress: Progress | None = None,
    rng: Any = None,
) -> Fit[HelmholtzMachine]: ...
@overload
def fit(
    structure: DeepBeliefNetwork, data: Any, prior: None = None, **options: Unpack[LearningMachines]
) -> Fit[DeepBeliefNetwork]: ...
@overload
def fit(
    structure: DeepBoltzmannMachine,
    data: Any,
    prior: None = None,
    *,
    start: Literal["stacked", "given"] = "stacked",
    chain_steps: int = 5,
    rate: float = 0.05,
    decay: float = 0.0,
    batch_size: int = 50,
    num_chains: int = 100,
    tolerance: float = 0.0,
    max_steps: int = 20,
    progress: Progress | None = None,
    rng: Any = None,
) -> Fit[DeepBoltzmannMachine]: ...
@overload
def fit(
    structure: RestrictedBoltzmannMachine, data: Any, prior: None = None, **options: Unpack[LearningMachines]
) -> Fit[RestrictedBoltzmannMachine]: ...
@overload
def fit(
    structure: EnergyModel,
    data: Any,
    prior: None = None,
    *,
    tolerance: float = 1e-6,
    max_steps: int = 500,
    progress: Progress | None = None,
) -> Fit[EnergyModel]: ...
@overload
def fit(
    structure: MarkovChain, data: Any, prior: Any = None, **options: Unpack[LearningChains]
) -> Fit[MarkovChain]: ...
@overload
def fit(
    structure: StateSpace, data: Any, prior: NoisePriors = None, **options: Unpack[LearningStateSpace]
) -> Fit[LinearGaussianStateSpace]: ...
@overload
def fit(
    structure: FactorAnalysis, data: Any, prior: Any = None, **options: Unpack[LearningFactors]
) -> Fit[FactorAnalysis]: ...
@overload
def fit(
    structure: ProbabilisticPCA, data: Any, prior: Any = None, **options: Unpack[LearningFactors]
) -> Fit[ProbabilisticPCA]: ...
@overload
def fit(
    structure: LatentDirichletAllocation,
    data: Any,
    prior: float = 0.1,
    *,
    method: Literal["auto", "variational", "gibbs"] = "auto",
    start: Literal["random", "given"] = "random",
    weights: Any = None,
    tolerance: float = 1e-6,
    max_steps: int = 1000,
    rng: Any = 0,
    progress: Any = None,
) -> Fit[LatentDirichletAllocation]: ...
@overload
def fit(structure: Mixture, data: Any, prior: Any = None, **options: Unpack[LearningMixtures]) -> Fit[Mixture]: ...
@overload
def statistics(
    structure: Directed, data: Any, *, variables: Iterable[Variable] | None = None, weights: Any = None
) -> NetworkStatistics: ...
@overload
def statistics(
    structure: FactorProduct, data: Any, *, variables: Iterable[Variable] | None = None, weights: Any = None
) -> FactorStatistics: ...
@overload
def statistics(
    structure: HiddenMarkovModel,
    data: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    weights: Any = None,
) -> HiddenMarkovStatistics: ...
@overload
def statistics(
    structure: MarkovChain, data: Any, *, lengths: Any = None, group: str | None = None, weights: Any = None
) -> MarkovChainStatistics: ...
@overload
def estimate(
    structure: Directed,
    statistics: NetworkStatistics,
    prior: Any = None,
    *,
    point: Point = "mean",
    on_unseen: OnUnseen = "uniform",
    fixed: Iterable[str] = (),
) -> BayesianNetwork: ...
@overload
def estimate(
    structure: FactorProduct,
    statistics: FactorStatistics,
    prior: None = None,
    *,
    method: Any = "auto",
    penalty: L1 | L2 | None = None,
    coupling: Any = None,
    engine: Any = "auto",
    tolerance: float = 1e-7,
    max_steps: int = 1000,
) -> Any: ...
@overload
def estimate(
    structure: HiddenMarkovModel,
    statistics: HiddenMarkovStatistics,
    prior: Any = None,
    *,
    fixed: Iterable[str] = (),
    point: Point = "mean",
) -> HiddenMarkovModel: ...
@overload
def estimate(
    structure: MarkovChain,
    statistics: MarkovChainStatistics,
    prior: Any = None,
    *,
    point: Point = "mean",
    on_unseen: OnUnseen = "uniform",
) -> MarkovChain: ...
