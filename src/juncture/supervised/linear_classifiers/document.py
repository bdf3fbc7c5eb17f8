"""Linear classifiers as plain data: {"weights": [1.0, 2.0], "bias": -1.0}; discriminants of many classes in a list."""

from __future__ import annotations

import math
from typing import Any

from juncture.base.documents.codec import NUMBER, Pair, Record, Union, left_out, list_of, or_null
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import Node
from juncture.data.document import states_of
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.kernels import (
    ConstantKernel,
    GaussianKernel,
    KernelProduct,
    KernelSum,
    LinearKernel,
    PolynomialKernel,
)
from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin
from juncture.supervised.linear_classifiers.multiclass import AllPairs, OneVersusRest, OrderedClassifier
from juncture.supervised.linear_classifiers.threshold_network import ThresholdNetwork

KERNEL = Union(
    "JSON holds the kernels {kinds}; this is a {kind}",
    Record(LinearKernel),
    Record(ConstantKernel),
    Record(GaussianKernel),
    Record(PolynomialKernel),
)
KERNEL.add(Record(KernelSum, parts=list_of(KERNEL)), Record(KernelProduct, parts=list_of(KERNEL)))


def are_truth_values(classes: Any) -> bool:
    return all(isinstance(label, bool) for label in classes)


CLASSES = states_of("class")
HYPERPLANE = Record(Hyperplane, classes=left_out(CLASSES, are_truth_values))
MACHINE = Record(
    MaximumMargin,
    labels=Pair(lambda labels: labels.astype(int).tolist(), Node.table),
    cost=or_null(NUMBER, math.inf, is_null=math.isinf),
    kernel=KERNEL,
    classes=left_out(CLASSES, are_truth_values),
)
BINARY = Union(
    "JSON holds discriminants that are a Hyperplane or a MaximumMargin; this is a {kind}", HYPERPLANE, MACHINE
)


DISCRIMINANTS = list_of(BINARY)

register_kind(HYPERPLANE, MACHINE, Record(ThresholdNetwork))
register_kind(
    *(
        Record(kind, classes=CLASSES, discriminants=DISCRIMINANTS)
        for kind in (OneVersusRest, AllPairs, OrderedClassifier)
    )
)
