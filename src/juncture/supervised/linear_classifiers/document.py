"""Linear classifiers as plain data: {"weights": [1.0, 2.0], "bias": -1.0}; discriminants of many classes in a list."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.data.document import encode_states, read_states
from juncture.errors import FormatError
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.kernels import (
    ConstantKernel,
    GaussianKernel,
    Kernel,
    KernelProduct,
    KernelSum,
    LinearKernel,
    PolynomialKernel,
)
from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin
from juncture.supervised.linear_classifiers.multiclass import (
    AllPairs,
    BinaryDiscriminants,
    OneVersusRest,
    OrderedClassifier,
)
from juncture.supervised.linear_classifiers.threshold_network import ThresholdNetwork

Fields = dict[str, Node]
KERNELS: dict[str, tuple[type[Kernel], Callable[[Fields], Kernel]]] = {
    "LinearKernel": (LinearKernel, lambda fields: LinearKernel()),
    "ConstantKernel": (ConstantKernel, lambda fields: ConstantKernel(fields["value"].number())),
    "GaussianKernel": (GaussianKernel, lambda fields: GaussianKernel(fields["scale"].number())),
    "PolynomialKernel": (
        PolynomialKernel,
        lambda fields: PolynomialKernel(
            fields["degree"].integer(), fields["scale"].number(), fields["offset"].number()
        ),
    ),
    "KernelSum": (KernelSum, lambda fields: KernelSum([read_kernel(part) for part in fields["parts"].items()])),
    "KernelProduct": (
        KernelProduct,
        lambda fields: KernelProduct([read_kernel(part) for part in fields["parts"].items()]),
    ),
}


def encode_kernel(kernel: Kernel) -> dict[str, Any]:
    kind = type(kernel).__name__
    if kind not in KERNELS:
        raise FormatError(f"JSON holds the kernels {', '.join(KERNELS)}; this is a {kind}")
    parts = {name: getattr(kernel, name) for name in kernel._fields}
    if "parts" in parts:
        parts["parts"] = [encode_kernel(part) for part in parts["parts"]]
    return {"kind": kind, **parts}


def read_kernel(node: Node) -> Kernel:
    kind, read = KERNELS[node.choice("kind", KERNELS)]
    fields = node.fields(["kind", *kind._fields])
    with node.locate_errors():
        return read(fields)


def encode_hyperplane(model: Hyperplane) -> dict[str, Any]:
    return {"weights": model.weights.tolist(), "bias": model.bias}


def read_hyperplane(document: Node, head: tuple[str, ...] = HEAD) -> Hyperplane:
    fields = document.fields([*head, "weights", "bias"])
    with document.locate_errors():
        return Hyperplane(fields["weights"].table(), fields["bias"].number())


def encode_machine(model: MaximumMargin) -> dict[str, Any]:
    return {
        "points": model.points.tolist(),
        "labels": model.labels.astype(int).tolist(),
        "multipliers": model.multipliers.tolist(),
        "bias": model.bias,
        "cost": model.cost if math.isfinite(model.cost) else None,
        "kernel": encode_kernel(model.kernel),
    }


def read_machine(document: Node, head: tuple[str, ...] = HEAD) -> MaximumMargin:
    fields = document.fields([*head, "points", "labels", "multipliers", "bias", "cost", "kernel"])
    points, labels, multipliers = (fields[name].table() for name in ("points", "labels", "multipliers"))
    cost, kernel = fields["cost"], read_kernel(fields["kernel"])
    price = math.inf if cost.value is None else cost.number()
    with document.locate_errors():
        return MaximumMargin(points, labels, multipliers, fields["bias"].number(), cost=price, kernel=kernel)


DISCRIMINANTS: dict[str, tuple[Callable[[Any], dict[str, Any]], Callable[..., Any]]] = {
    "Hyperplane": (encode_hyperplane, read_hyperplane),
    "MaximumMargin": (encode_machine, read_machine),
}


def encode_discriminants(model: BinaryDiscriminants) -> dict[str, Any]:
    parts = [encode_discriminant(part) for part in model.discriminants]
    return {"classes": encode_states(model.classes, "class"), "discriminants": parts}


def encode_discriminant(part: Any) -> dict[str, Any]:
    """A hyperplane, or a machine; of a perceptron or another fit with a hyperplane, that."""
    found = part if type(part).__name__ in DISCRIMINANTS else getattr(part, "hyperplane", part)
    kind = type(found).__name__
    if kind not in DISCRIMINANTS:
        raise FormatError(f"JSON holds discriminants that are a Hyperplane or a MaximumMargin; this is a {kind}")
    return {"kind": kind, **DISCRIMINANTS[kind][0](found)}


def read_discriminants(kind: type[BinaryDiscriminants]) -> Callable[[Node], BinaryDiscriminants]:
    def read(document: Node) -> BinaryDiscriminants:
        fields = document.fields([*HEAD, "classes", "discriminants"])
        parts = [read_discriminant(part) for part in fields["discriminants"].items()]
        with document.locate_errors():
            return kind(read_states(fields["classes"]), parts)

    return read


def read_discriminant(node: Node) -> Any:
    return DISCRIMINANTS[node.choice("kind", DISCRIMINANTS)][1](node, ("kind",))


NETWORK = ("hidden_weights", "hidden_biases", "weights")


def encode_network(model: ThresholdNetwork) -> dict[str, Any]:
    return {**{name: getattr(model, name).tolist() for name in NETWORK}, "bias": model.bias}


def read_network(document: Node) -> ThresholdNetwork:
    fields = document.fields([*HEAD, *NETWORK, "bias"])
    hidden, biases, last = (fields[name].table() for name in NETWORK)
    return ThresholdNetwork(hidden, biases, last, fields["bias"].number())


register_kind(Hyperplane, encode_hyperplane, read_hyperplane)
register_kind(MaximumMargin, encode_machine, read_machine)
for kind in (OneVersusRest, AllPairs, OrderedClassifier):
    register_kind(kind, encode_discriminants, read_discriminants(kind))
register_kind(ThresholdNetwork, encode_network, read_network)
