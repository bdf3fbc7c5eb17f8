"""What the verbs do with regressions."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.supervised.answers import register_answers
from juncture.supervised.regression.logistic import LogisticOptions, LogisticRegression, fit_logistic

register(verbs.fit, LogisticRegression, fit_logistic, LogisticOptions, takes_class=True)
register_answers(LogisticRegression)
