"""What the verbs do with conditional random fields."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.sequences.conditional_random_field.fit import LabelOptions, fit_labels
from juncture.sequences.conditional_random_field.infer import (
    infer_labels,
    log_prob_labels,
    most_probable_labels,
    sample_labels,
)
from juncture.sequences.conditional_random_field.model import ConditionalRandomField

register(verbs.infer, ConditionalRandomField, infer_labels)
register(verbs.most_probable, ConditionalRandomField, most_probable_labels)
register(verbs.sample, ConditionalRandomField, sample_labels)
register(verbs.log_prob, ConditionalRandomField, log_prob_labels)
register(verbs.fit, ConditionalRandomField, fit_labels, LabelOptions)
