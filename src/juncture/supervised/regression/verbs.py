"""What the verbs do with regressions."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.supervised.answers import register_answers
from juncture.supervised.regression.bayesian import (
    BayesianLinearRegression,
    ConjugateLinearRegression,
    ConjugateOptions,
    fit_conjugate,
)
from juncture.supervised.regression.evidence import BayesianLinearOptions, fit_bayesian
from juncture.supervised.regression.fisher_scoring import GeneralizedLinearOptions, fit_generalized_linear
from juncture.supervised.regression.generalized_linear import GeneralizedLinearModel, RowFacts
from juncture.supervised.regression.laplace import AverageOptions, LaplaceLogistic, fit_laplace
from juncture.supervised.regression.linear import LinearOptions, LinearRegression, fit_linear
from juncture.supervised.regression.logistic import LogisticOptions, LogisticRegression, fit_logistic

register(verbs.fit, LinearRegression, fit_linear, LinearOptions, takes_class=True)
register(verbs.fit, BayesianLinearRegression, fit_bayesian, BayesianLinearOptions, takes_class=True)
register(verbs.fit, ConjugateLinearRegression, fit_conjugate, ConjugateOptions, takes_class=True)
register(verbs.fit, LogisticRegression, fit_logistic, LogisticOptions, takes_class=True)
register(verbs.fit, LaplaceLogistic, fit_laplace, LogisticOptions, takes_class=True)
register(verbs.fit, GeneralizedLinearModel, fit_generalized_linear, GeneralizedLinearOptions, takes_class=True)
register_answers(LinearRegression)
register_answers(BayesianLinearRegression)
register_answers(ConjugateLinearRegression)
register_answers(LogisticRegression)
register_answers(LaplaceLogistic, AverageOptions)
register_answers(GeneralizedLinearModel, RowFacts)
