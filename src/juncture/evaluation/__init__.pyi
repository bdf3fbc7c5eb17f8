"""Measures, protocols, comparisons of learners, model choice and learning theory; `jt.evaluation`."""

from juncture.evaluation.learners.bayesian import BayesianComparison, bayesian_correlated_t, bayesian_signed_rank
from juncture.evaluation.learners.compare import LearnerComparison, LearnerPair, compare_learners
from juncture.evaluation.learners.paired_tests import (
    TestResult,
    corrected_t_test,
    five_by_two_test,
    mcnemar_test,
    paired_t_test,
)
from juncture.evaluation.learners.rank_tests import FriedmanTest, friedman_test, wilcoxon_test
from juncture.evaluation.learning_theory.bounds import (
    capacity,
    estimation_error_bound,
    hoeffding_bound,
    hoeffding_deviation,
    hoeffding_samples,
    margin_error_bound,
    margin_vc_bound,
    sample_complexity,
    threshold_sample_complexity,
    uniform_convergence_bound,
    vc_sample_complexity,
)
from juncture.evaluation.learning_theory.hypotheses import (
    Discs,
    Hyperplanes,
    Intervals,
    Rectangles,
    SignedIntervals,
    Sines,
    Singletons,
    Thresholds,
    shatters,
    sine_frequency,
    vc_dimension,
)
from juncture.evaluation.learning_theory.risk import (
    RiskDecomposition,
    StructuralRisk,
    ThresholdFit,
    decompose_risk,
    fit_threshold,
    pac_frequency,
    risk,
    structural_risk,
)
from juncture.evaluation.measures.calibration import Calibration, calibration
from juncture.evaluation.measures.classification import (
    ConfusionMatrix,
    ScoreCurve,
    confusion_matrix,
    precision_recall_curve,
    roc_curve,
)
from juncture.evaluation.measures.scores import crps, log_score, pearson_correlation, root_mean_squared_error
from juncture.evaluation.models.bayes_factors import BayesFactor, bayes_factor, description_length, model_posterior
from juncture.evaluation.models.compare import ModelComparison, ModelScore, compare_models
from juncture.evaluation.models.facts import Candidate
from juncture.evaluation.models.facts_of_families import HierarchicalPrior
from juncture.evaluation.models.predictive import PredictiveScore, psis_loo, waic
from juncture.evaluation.network_report import NetworkReport, VariableReport, evaluate_network
from juncture.evaluation.protocols.bootstrap import BootstrapError, bootstrap_error
from juncture.evaluation.protocols.cross_validation import CrossValidation, cross_validate
from juncture.evaluation.protocols.folds import hold_out, make_folds
from juncture.evaluation.protocols.learning_curves import ScoreBands, learning_curve, validation_curve

__all__ = [
    "BayesFactor",
    "BayesianComparison",
    "BootstrapError",
    "Calibration",
    "Candidate",
    "ConfusionMatrix",
    "CrossValidation",
    "Discs",
    "FriedmanTest",
    "HierarchicalPrior",
    "Hyperplanes",
    "Intervals",
    "LearnerComparison",
    "LearnerPair",
    "ModelComparison",
    "ModelScore",
    "NetworkReport",
    "PredictiveScore",
    "Rectangles",
    "RiskDecomposition",
    "ScoreBands",
    "ScoreCurve",
    "SignedIntervals",
    "Sines",
    "Singletons",
    "StructuralRisk",
    "TestResult",
    "ThresholdFit",
    "Thresholds",
    "VariableReport",
    "bayes_factor",
    "bayesian_correlated_t",
    "bayesian_signed_rank",
    "bootstrap_error",
    "calibration",
    "capacity",
    "compare_learners",
    "compare_models",
    "confusion_matrix",
    "corrected_t_test",
    "cross_validate",
    "crps",
    "decompose_risk",
    "description_length",
    "estimation_error_bound",
    "evaluate_network",
    "fit_threshold",
    "five_by_two_test",
    "friedman_test",
    "hoeffding_bound",
    "hoeffding_deviation",
    "hoeffding_samples",
    "hold_out",
    "learning_curve",
    "log_score",
    "make_folds",
    "margin_error_bound",
    "margin_vc_bound",
    "mcnemar_test",
    "model_posterior",
    "pac_frequency",
    "paired_t_test",
    "pearson_correlation",
    "precision_recall_curve",
    "psis_loo",
    "risk",
    "roc_curve",
    "root_mean_squared_error",
    "sample_complexity",
    "shatters",
    "sine_frequency",
    "structural_risk",
    "threshold_sample_complexity",
    "uniform_convergence_bound",
    "validation_curve",
    "vc_dimension",
    "vc_sample_complexity",
    "waic",
    "wilcoxon_test",
]
