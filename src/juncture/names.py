"""The public names: for each namespace, by groups, the modules that define them; and the faces that load them.

`juncture` itself, its faces, the type stubs, the reference and the tests read this table. A name is imported from its
module when it is first used. `make stubs` writes the stubs and `docs/reference/names.md` anew.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import Any, NoReturn

FLAT = ""  # the namespace of `jt` itself
LIKE = 0.8  # how like a name must be to be the one that is meant, by `difflib`

# namespace → group → module → the names that it defines
# fmt: off
NAMES: dict[str, dict[str, dict[str, str]]] = {
    FLAT: {
        "Variables and data": {
            "variables": "Variable", "data.dataset": "Dataset", "data.sequences": "Sequence",
            "data.discretization": "Discretizer", "evidence": "Evidence",
        },
        "Graphs": {"graphs.directed": "DirectedGraph PartiallyDirectedGraph", "graphs.undirected": "UndirectedGraph"},
        "Families of distributions": {
            "families.discrete.bernoulli": "Bernoulli", "families.discrete.geometric": "Geometric",
            "families.discrete.binomial": "Binomial", "families.discrete.negative_binomial": "NegativeBinomial",
            "families.discrete.categorical": "Categorical", "families.vectors.multinomial": "Multinomial",
            "families.discrete.poisson": "Poisson", "families.continuous.exponential": "Exponential",
            "families.continuous.gamma": "Gamma", "families.continuous.inverse_gamma": "InverseGamma",
            "families.continuous.beta": "Beta", "families.vectors.dirichlet": "Dirichlet",
            "families.continuous.gaussian": "Gaussian",
            "families.vectors.multivariate_gaussian": "MultivariateGaussian", "families.continuous.laplace": "Laplace",
            "families.continuous.pareto": "Pareto", "families.continuous.weibull": "Weibull",
            "families.continuous.uniform": "Uniform", "families.continuous.student_t": "StudentT",
            "families.vectors.normal_gamma": "NormalGamma NormalInverseGamma",
            "families.vectors.normal_inverse_wishart": "NormalInverseWishart", "families.vectors.wishart": "Wishart",
            "families.vectors.inverse_wishart": "InverseWishart", "families.vectors.independent": "Independent",
        },
        "Factors, conditionals and emissions": {
            "factors.factor": "Factor", "factors.gaussian_factor": "GaussianFactor",
            "factors.conditional": "Conditional", "factors.deterministic": "Deterministic",
            "factors.noisy": "NoisyOr NoisyMax", "factors.logistic": "Logistic", "factors.gaussian": "LinearGaussian",
            "components.gaussian": "GaussianEmissions", "components.categorical": "CategoricalEmissions",
            "components.family": "FamilyEmissions", "components.independent": "IndependentEmissions",
            "components.mixture": "MixtureEmissions", "components.precomputed": "PrecomputedLogLikelihoods",
        },
        "Models": {
            "networks.bayesian_network": "BayesianNetwork", "networks.factor_product": "MarkovNetwork FactorGraph",
            "networks.decision_network": "DecisionNetwork Decision Utility",
            "networks.pairwise.model": "PairwiseNetwork", "networks.pairwise.ising": "ising potts",
            "networks.plates": "plate", "networks.intervention": "do",
            "sequences.hidden_markov.model": "HiddenMarkovModel",
            "sequences.hidden_markov.initial_model": "initial_hidden_markov",
            "sequences.state_space.model": "LinearGaussianStateSpace",
            "sequences.conditional_random_field.model": "ConditionalRandomField",
            "sequences.markov_chains.model": "MarkovChain", "sequences.markov_chains.page_rank": "page_rank",
            "components.mixture": "Mixture", "latent.factor_analysis.model": "FactorAnalysis ProbabilisticPCA",
            "latent.topics.model": "LatentDirichletAllocation", "latent.boltzmann.model": "RestrictedBoltzmannMachine",
            "latent.independent_components.model": "IndependentComponents IndependentFactors",
        },
        "Questions": {
            "verbs": "infer most_probable sample log_prob online_filter methods",
            "inference.sensitivity": "sensitivity",
            "inference.planning": "cost compile", "inference.variational.elbo": "elbo",
            "inference.decisions.optimal_policy": "optimal_policy",
            "inference.decisions.value_of_information": "value_of_information",
        },
        "Engines": {
            "inference.exact.junction_tree.engine": "JunctionTree",
            "inference.exact.elimination": "VariableElimination", "inference.exact.enumeration": "Enumeration",
            "inference.messages.loopy": "LoopyBP", "inference.messages.tree_reweighted": "TreeReweighted",
            "inference.messages.icm": "ICM", "inference.bounded.mini_bucket": "MiniBucket",
            "inference.bounded.bounded_clique_tree": "BoundedCliqueTree",
            "inference.variational.mean_field": "MeanField", "inference.sampling.markov_chains.gibbs": "Gibbs",
            "inference.sampling.markov_chains.metropolis": "Metropolis",
            "inference.sampling.markov_chains.swendsen_wang": "SwendsenWang",
            "inference.sampling.likelihood_weighting": "LikelihoodWeighting",
            "inference.sampling.importance": "ImportanceSampling", "inference.sampling.rejection": "RejectionSampling",
        },
        "Learning": {
            "verbs": "fit statistics estimate", "learning.structure.learn": "learn_structure",
            "learning.em.expectation_maximization": "ExpectationMaximization",
            "learning.networks.gradient": "GradientAscent", "learning.newton": "Newton",
            "learning.undirected.fit": "IterativeProportionalFitting MaximumLikelihood MaximumPseudoLikelihood",
            "learning.learners": "StochasticGradient",
            "latent.boltzmann.learners": "ContrastiveDivergence ExactGradient",
            "latent.topics.variational": "VariationalBayes", "latent.topics.fit": "CollapsedGibbs",
            "learning.structure.searches.hill_climbing": "HillClimbing",
            "learning.structure.searches.trees": "ChowLiu TreeAugmented", "learning.structure.searches.pc": "PC",
            "learning.structure.searches.ges": "GES", "learning.structure.searches.exact": "ExactSearch",
            "learning.structure.searches.mmhc": "MMHC", "learning.structure.searches.structural_em": "StructuralEM",
            "learning.conditionals.table": "BDeu K2", "learning.undirected.penalties": "L1 L2",
            "sequences.hidden_markov.options": "HiddenMarkovPrior", "components.mixture": "MixturePrior",
        },
        "Files and pictures": {
            "formats.files": "read write", "formats.uai_evidence": "read_evidence write_evidence",
            "formats.bundled": "example examples", "formats.pgmpy_models": "from_pgmpy to_pgmpy",
            "formats.pyagrum_models": "from_pyagrum to_pyagrum", "inference.picture": "draw",
            "drawing.pictures": "plot",
        },
        "Threads and compiled loops": {"runtime.parallel": "set_num_threads", "base.compilation": "set_compilation"},
        "Errors": {"errors": "JunctureError ImpossibleEvidence UnknownVariable TooLarge FormatError"},
    },
    "families": {
        "Families that appear as answers": {
            "families.discrete.beta_binomial": "BetaBinomial",
            "families.discrete.beta_negative_binomial": "BetaNegativeBinomial",
            "families.discrete.hypergeometric": "Hypergeometric",
            "families.vectors.dirichlet_multinomial": "DirichletMultinomial", "families.continuous.lomax": "Lomax",
            "families.continuous.scaled_inverse_chi_squared": "ScaledInverseChiSquared",
            "families.continuous.von_mises": "VonMises",
            "families.vectors.multivariate_student_t": "MultivariateStudentT",
            "families.vectors.multivariate_gaussian": "CanonicalGaussian",
        },
        "Statistics and forms of families": {
            "families.statistics.statistics": "Statistics", "families.statistics_document": "statistics_from_json",
            "families.discrete.categorical": "one_hot from_one_hot", "families.minimal": "minimal_form",
            "networks.pairwise.ising": "ising_parameters", "families.curved": "CurvedFamily",
        },
        "Priors and posteriors": {
            "families.posteriors.generic": "GenericPrior", "families.posteriors.jeffreys": "jeffreys",
            "families.posteriors.pooling": "fit_concentration",
            "families.posteriors.quadrature": "quadrature_posterior",
            "families.posteriors.laplace": "laplace_approximation laplace_evidence",
            "inference.variational.black_box": "black_box_variational",
            "learning.networks.posterior": "posterior infer_posterior",
        },
        "Inverses of block matrices": {
            "families.vectors.block_matrices": "schur_complement block_inverse woodbury_inverse",
        },
    },
    "information": {
        "Entropies": {
            "information.entropies": "entropy self_information perplexity cross_entropy conditional_entropy"
            " mutual_information total_correlation",
            "inference.explain": "edge_information",
        },
        "Divergences": {
            "information.divergences": "kl_divergence redundancy total_variation pinsker_bound chi_squared_divergence"
            " alpha_divergence",
        },
        "Projections and maximum entropy": {
            "information.projections": "m_projection i_projection alpha_projection",
            "information.maximum_entropy": "max_entropy", "information.maximum_entropy_density": "max_entropy_density",
            "information.maximum_entropy_table": "max_entropy_table",
        },
        "Distributions to measure": {"information.density": "Density", "information.atoms": "empirical"},
        "Bounds of means": {"information.bounds": "chebyshev_bound standard_error samples_needed"},
    },
    "structure": {
        "Searches and scores": {
            "learning.structure.learn": "search", "learning.structure.searches.combined": "CombinedSearch SearchResult",
            "learning.structure.scores.scores": "score LogLikelihood AIC BIC BDs EdgePrior",
            "learning.structure.scores.gaussian": "BGe", "learning.structure.scores.discrete": "NodeAverage",
        },
        "Tests of independence": {
            "learning.structure.independence": "independence_test GSquaredTest ChiSquaredTest PermutationTest"
            " FisherZTest",
        },
        "Comparison and certainty": {
            "learning.structure.graph_comparison": "compare GraphComparison",
            "learning.structure.strength": "strengths EdgeStrengths",
            "learning.structure.edge_posteriors": "posteriors EdgePosteriors",
        },
    },
    "sampling": {
        "Draws and chains": {
            "inference.sampling.draws": "Draws", "inference.sampling.markov_chains.start_chains": "start_chains",
            "inference.sampling.markov_chains.chain_engine": "ChainRun",
            "inference.sampling.markov_chains.transition_matrix": "transition_matrix TransitionMatrix",
            "inference.sampling.markov_chains.tempering": "ParallelTempering",
            "inference.sampling.cutset": "CutsetSampling",
        },
        "Densities of real numbers": {
            "inference.sampling.log_density": "sample_log_density random_walk",
            "inference.sampling.one_dimension": "inverse_transform rejection_sample slice_sample",
        },
        "Estimates": {
            "inference.sampling.monte_carlo": "monte_carlo importance_estimate importance_variance_bound",
            "inference.sampling.markov_chains.annealed": "annealed_importance_sampling AnnealedEstimate",
            "latent.topics.log_prob": "left_to_right HeldOutScore",
        },
        "Particle filters": {
            "inference.sampling.particle_model": "ParticleModel Proposal",
            "inference.sampling.particle_filter": "particle_filter ParticleBeliefs",
        },
    },
    "messages": {
        "Messages by hand": {
            "inference.messages.sum_product": "sum_product max_product semiring_messages",
            "inference.exact.semiring": "Semiring eliminate", "inference.exact.magnetization": "magnetization",
            "inference.exact.directed_form": "to_bayesian_network",
        },
        "Engines of special models": {
            "inference.exact.gaussian.engine": "GaussianElimination",
            "inference.exact.hybrid.engine": "StrongJunctionTree", "inference.messages.max_flow": "MaxFlow",
        },
        "Approximate marginals": {
            "inference.variational.expectation_propagation": "expectation_propagation",
            "inference.variational.polytope": "marginal_polytope",
        },
    },
    "neural": {
        "Models": {
            "latent.neural.autoencoder": "Autoencoder",
            "latent.neural.variational_autoencoder": "VariationalAutoencoder",
            "latent.neural.helmholtz": "HelmholtzMachine",
            "latent.boltzmann.deep.belief_network": "DeepBeliefNetwork",
            "latent.boltzmann.deep.boltzmann_machine": "DeepBoltzmannMachine", "latent.energy": "EnergyModel",
        },
        "Learning": {
            "latent.neural.feed_forward": "Adam", "latent.neural.helmholtz": "WakeSleep",
            "inference.variational.amortized": "amortized_variational",
        },
    },
    "clusters": {
        "Clusters": {
            "clusters.means": "k_means choose_num_clusters ClusterChoice", "clusters.medoids": "k_medoids",
            "clusters.clusters": "Clusters", "clusters.hierarchy": "hierarchical_clusters Dendrogram",
            "clusters.discriminative": "discriminative_clusters DiscriminativeClusters",
        },
        "Components of mixtures": {
            "latent.mixtures.number_of_components": "choose_components ComponentChoice",
            "latent.mixtures.dirichlet_process": "chinese_restaurant expected_tables",
        },
        "Principal components": {
            "latent.factor_analysis.principal_components": "principal_components choose_dimension PrincipalComponents"
            " DimensionChoice",
        },
    },
    "images": {
        "Images": {"inference.images": "denoising_field flip_noise flip_strength segment"},
    },
    "supervised": {
        "Regressions": {
            "supervised.regression.bases": "FourierBasis GaussianBasis LinearBasis PolynomialBasis SigmoidBasis"
            " SplineBasis",
            "supervised.regression.bayesian": "BayesianLinearRegression ConjugateLinearRegression PosteriorFit"
            " RegressionStatistics regression_statistics",
            "supervised.regression.coefficients": "CoefficientTable",
            "supervised.regression.evidence": "BasisChoice EvidenceFit EvidenceMaximization compare_bases",
            "supervised.regression.generalized_linear": "GeneralizedLinearFit GeneralizedLinearModel Link",
            "supervised.regression.laplace": "LaplaceLogistic",
            "supervised.regression.linear": "LinearFit LinearRegression RidgePath ridge_path",
            "supervised.regression.logistic": "LogisticFit LogisticRegression",
        },
        "Generative classifiers": {
            "supervised.generative.classifier": "GenerativeClassifier LinearForm",
        },
        "Linear classifiers": {
            "supervised.linear_classifiers.decision_function": "DecisionFit",
            "supervised.linear_classifiers.dichotomies": "ZeroOne count_dichotomies linear_dichotomies",
            "supervised.linear_classifiers.hyperplane": "Hyperplane find_separation",
            "supervised.linear_classifiers.kernels": "ConstantKernel GaussianKernel KernelProduct KernelSum"
            " LinearKernel PolynomialKernel is_kernel_matrix",
            "supervised.linear_classifiers.risk": "EmpiricalRisk LeastSquares RiskFit margin_loss"
            " margin_loss_derivative",
            "supervised.linear_classifiers.maximum_margin": "MaximumMargin OptimalityResiduals"
            " SequentialMinimalOptimization",
            "supervised.linear_classifiers.multiclass": "AllPairs OneVersusRest OrderedClassifier",
            "supervised.linear_classifiers.perceptron": "Perceptron PerceptronFit perceptron_bound",
            "supervised.linear_classifiers.threshold_network": "ThresholdNetwork threshold_network",
        },
        "Trees and forests": {
            "supervised.trees.forest": "RandomForest",
            "supervised.trees.gains": "candidate_thresholds gain_ratio information_gain split_information",
            "supervised.trees.tree": "DecisionTree", "supervised.trees.pruning": "prune_by_cost prune_tree",
            "supervised.trees.rules": "Rule",
        },
        "Decisions under a loss": {
            "evaluation.decisions.error_rates": "ErrorBounds error_bounds nearest_neighbor_bounds ErrorRate"
            " classification_error conditional_error",
            "evaluation.decisions.loss_matrix": "LossMatrix decide",
            "evaluation.decisions.optimal_decision": "OptimalDecision optimal_decision",
            "evaluation.decisions.regions": "DecisionRegions decision_regions",
        },
        "Descent": {
            "numerics.descent": "Descent descend Armijo ConstantStep DecreasingStep ExactLineSearch TrustRegion"
            " descend_stochastic",
        },
    },
    "evaluation": {
        "Measures": {
            "evaluation.measures.calibration": "Calibration calibration",
            "evaluation.measures.classification": "ConfusionMatrix confusion_matrix ScoreCurve precision_recall_curve"
            " roc_curve",
            "evaluation.measures.scores": "brier_score pearson_correlation root_mean_squared_error crps log_score",
            "evaluation.network_report": "NetworkReport NumberReport VariableReport evaluate_network",
            "networks.lint": "lint", "data.missingness": "missingness",
        },
        "Protocols": {
            "evaluation.protocols.bootstrap": "BootstrapError bootstrap_error",
            "evaluation.protocols.cross_validation": "CrossValidation cross_validate",
            "evaluation.protocols.folds": "hold_out make_folds",
            "evaluation.protocols.learning_curves": "ScoreBands learning_curve validation_curve",
        },
        "Comparison of learners": {
            "evaluation.learners.bayesian": "BayesianComparison bayesian_correlated_t bayesian_signed_rank",
            "evaluation.learners.paired_tests": "mcnemar_test TestResult corrected_t_test five_by_two_test"
            " paired_t_test",
            "evaluation.learners.rank_tests": "FriedmanTest friedman_test wilcoxon_test",
            "evaluation.learners.compare": "LearnerComparison LearnerPair compare_learners",
        },
        "Comparison of models": {
            "evaluation.models.bayes_factors": "BayesFactor bayes_factor description_length model_posterior",
            "evaluation.models.compare": "ModelComparison ModelScore compare_models",
            "evaluation.models.facts": "Candidate", "evaluation.models.predictive": "PredictiveScore psis_loo waic",
            "evaluation.models.facts_of_families": "HierarchicalPrior",
        },
        "Learning theory": {
            "evaluation.learning_theory.bounds": "capacity estimation_error_bound hoeffding_bound hoeffding_deviation"
            " hoeffding_samples margin_vc_bound sample_complexity threshold_sample_complexity"
            " uniform_convergence_bound vc_sample_complexity margin_error_bound",
            "evaluation.learning_theory.hypotheses": "Discs Hyperplanes Intervals Rectangles SignedIntervals Sines"
            " Singletons Thresholds shatters sine_frequency vc_dimension",
            "evaluation.learning_theory.risk": "RiskDecomposition decompose_risk risk StructuralRisk ThresholdFit"
            " fit_threshold pac_frequency structural_risk",
        },
        "Decisions": {
            "evaluation.decisions.optimal_test": "optimal_test bayes_error",
            "inference.decisions.optimal_policy": "expected_utility",
            "inference.decisions.value_of_information": "next_question",
        },
    },
    "estimators": {
        "Classifiers": {
            "estimators.generative": "ExponentialFamilyClassifier LinearDiscriminantAnalysis"
            " QuadraticDiscriminantAnalysis",
            "estimators.naive_bayes": "NaiveBayes",
            "estimators.networks": "BayesianNetworkClassifier TreeAugmentedNaiveBayes",
        },
        "Regressions and linear classifiers": {
            "estimators.linear": "BayesianLinearRegression GeneralizedLinearModel LogisticRegression Perceptron",
        },
        "Trees and forests": {"estimators.trees": "DecisionTree RandomForest RegressionForest RegressionTree"},
        "Mixtures and latent variables": {
            "estimators.boltzmann": "RestrictedBoltzmannMachine",
            "estimators.factors": "FactorAnalysis ProbabilisticPCA",
            "estimators.mixtures": "BayesianGaussianMixture BernoulliMixture GaussianMixture MixedMixture",
            "estimators.topics": "LatentDirichletAllocation",
        },
        "Sequences": {"estimators.hidden_markov": "CategoricalHMM GaussianHMM MixtureHMM"},
    },
    "results": {
        "Answers": {
            "inference.engines.beliefs": "Beliefs", "inference.engines.posterior_mixtures": "RealMarginal MixedJoint",
            "inference.most_probable": "MostProbable MostProbableRows", "inference.engines.ranked": "RankedAnswers",
            "inference.engines.contract": "Cost",
            "inference.planning": "Plan", "inference.answer_blocks": "answer_blocks BlockAnswers",
            "networks.policy": "Policy DecisionRule", "inference.decisions.value_of_information": "InformationValues",
            "formats.uai_results": "read_result write_result",
        },
        "Answers about sequences": {
            "sequences.hidden_markov.beliefs": "ChainBeliefs ChainForecast",
            "sequences.hidden_markov.most_probable": "MostProbablePath",
            "sequences.hidden_markov.online_filter": "ChainFilter",
            "sequences.state_space.beliefs": "StateSpaceBeliefs",
            "sequences.state_space.forecast": "StateSpaceForecast",
            "sequences.state_space.online_filter": "KalmanFilter", "sequences.markov_chains.page_rank": "PageRank",
        },
        "Answers about latent variables": {
            "latent.mixtures.beliefs": "MixtureBeliefs Imputed", "latent.factor_analysis.beliefs": "FactorBeliefs",
            "latent.topics.infer": "TopicBeliefs",
            "latent.independent_components.infer": "SourceBeliefs", "latent.boltzmann.infer": "BoltzmannBeliefs",
            "latent.boltzmann.deep.beliefs": "DeepBeliefs", "latent.neural.variational_autoencoder": "EncodedBeliefs",
        },
        "Learning": {
            "learning.fit": "Fit", "numerics.iteration": "Trace", "learning.networks.statistics": "NetworkStatistics",
            "learning.undirected.statistics": "FactorStatistics",
            "sequences.hidden_markov.statistics": "HiddenMarkovStatistics",
            "sequences.markov_chains.fit": "MarkovChainStatistics", "data.discretization": "FittedDiscretizer",
        },
        "Parts of models": {
            "variables": "Scope Assignment", "factors.conditional": "AnyConditional", "factors.gaussian": "Constant",
        },
    },
    "errors": {
        "Errors": {
            "errors": "JunctureError UnknownVariable UnknownState ImpossibleEvidence InvalidModel InvalidData"
            " FormatError Unsupported TooLarge ObjectiveDecreased MissingExtra",
        },
        "Warnings": {
            "errors": "ImpossibleEvidenceWarning RenormalizedWarning RegularizedWarning UnseenParentsWarning"
            " UnseenStatesWarning UnvisitedStatesWarning ColumnKindWarning TextColumnWarning IdentifierWarning"
            " NotConvergedWarning LongSearchWarning ApproximationWarning NotDirectedWarning"
            " DeterministicRelationWarning"
            " NotIdentifiedWarning",
        },
    },
    "plots": {
        "Pictures by name": {
            "plots.densities": "density", "plots.draws": "trace rank autocorrelation",
            "plots.latent": "mixture scree loadings topics dendrogram steps",
        },
    },
    "graphs": {
        "Independence": {
            "graphs.independence": "Independence", "graphs.trails": "Trail",
            "networks.markov_properties": "factorizes markov_violations faithfulness_violations",
        },
    },
}
# fmt: on
# namespace → the package that it needs, and the extra that brings it
EXTRAS = {"estimators": ("scikit-learn", "sklearn")}


@cache
def names_in(namespace: str) -> dict[str, str]:
    """The names of a namespace, in the order of the table, each with the module that defines it."""
    groups = NAMES[namespace].values()
    return {name: module for group in groups for module, names in group.items() for name in names.split()}


def namespaces() -> list[str]:
    """The namespaces of `jt`."""
    return sorted(name for name in NAMES if name != FLAT)


def path_of(namespace: str, name: str) -> str:
    """A public name as users write it, such as jt.information.entropy."""
    return ".".join(part for part in ("jt", namespace, name) if part)


def public_path(name: str) -> str:
    """Where users find what has this name; the name itself where it is not public."""
    return next((path_of(namespace, name) for namespace in NAMES if name in names_in(namespace)), name)


def face(package: str) -> None:
    """Make a module the face of its namespace: `__all__`, and names that are imported when they are first used.

    `dir` lists the public names and nothing else. The docstring is completed by the groups of names.
    """
    module, namespace = sys.modules[package], namespace_of(package)
    homes = {**names_in(namespace), **({name: name for name in namespaces()} if namespace == FLAT else {})}

    def get(name: str) -> Any:
        if name not in homes:
            refuse(package, name)
        home = import_home(homes[name], namespace)
        value = home if homes[name] == name else getattr(home, name)
        vars(module)[name] = value
        return value

    if module.__doc__:
        module.__doc__ += "".join(f"\n\n{group}:\n    {', '.join(names)}" for group, names in groups_of(namespace))
    vars(module).update(__all__=list(homes), __getattr__=get, __dir__=lambda: sorted(homes))


def namespace_of(package: str) -> str:
    """The namespace whose face a module is."""
    return package.removeprefix("juncture").removeprefix(".")


def groups_of(namespace: str) -> list[tuple[str, list[str]]]:
    """The names of a namespace by groups; those of `jt` itself with the namespaces."""
    found = [(group, " ".join(homes.values()).split()) for group, homes in NAMES[namespace].items()]
    return [*found, ("Namespaces", namespaces())] if namespace == FLAT else found


def import_home(home: str, namespace: str) -> Any:
    """The module that defines a name; an optional package that is not installed is named with its extra."""
    try:
        return importlib.import_module(f"juncture.{home}")
    except ModuleNotFoundError as error:
        if namespace in EXTRAS and (error.name or "").partition(".")[0] == EXTRAS[namespace][1]:
            missing = importlib.import_module("juncture.errors").MissingExtra
            raise missing.named(*EXTRAS[namespace]) from None
        raise


def refuse(package: str, name: str) -> NoReturn:
    """Raise the error for a name that a namespace does not have, with the public name that may be meant."""
    if name.startswith("__") or f"{package}.{name}" in sys.modules:  # asked by Python itself, or half imported
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
    meant = find_meant(namespace_of(package), name)
    hint = f": did you mean {' or '.join(meant)}?" if meant else ""
    raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name, obj=None)


def find_meant(namespace: str, name: str) -> list[str]:
    """The public names, as users write them, that may be meant by a name that the namespace does not have."""
    import difflib

    plain, others = plain_text(name), importlib.import_module("juncture.base.other_names").OTHER_NAMES
    other = next((meant for meant, names in others.items() if plain in map(plain_text, names.split())), "")
    places = [*(place for place in NAMES if place != namespace), namespace]  # of equal texts the last is taken
    everywhere = [(place, known) for place in places for known in names_in(place)]
    same = [path_of(*pair) for pair in everywhere if pair[1] == name]
    same = same or [path_of(*pair) for pair in everywhere if plain_text(pair[1]) == plain]
    if other or same:
        return list(dict.fromkeys([*other.split(), *same]))
    texts = {f"{place}.{known}".lower(): (place, known) for place, known in everywhere}
    texts |= {known: (FLAT, known) for known in namespaces()} | {pair[1].lower(): pair for pair in everywhere}
    near = difflib.get_close_matches(name.lower(), texts, n=1, cutoff=LIKE)
    return [path_of(*texts[near[0]])] if near else []


def plain_text(name: str) -> str:
    """A name by its letters and digits alone, of one case: loadBN and load_bn are the same.

    >>> plain_text("BIFReader") == plain_text("bif_reader")
    True
    """
    return name.replace("_", "").lower()
