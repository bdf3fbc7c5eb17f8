"""The perceptron: a pass over points, each of which changes the weights if it is misclassified."""

from __future__ import annotations

from juncture.kernels.compiler import summing_kernel


@summing_kernel(work=("points",))
def pass_over_points(points, rates, order, margin, weights):
    """Add rate · point to the weights for each point in this order whose product with them is at most the margin.

    `points` is (point, coordinate), each with the sign of its class. Returns how many points changed the weights.
    """
    num_updates = 0
    for point in order:
        activation = 0.0
        for coordinate in range(len(weights)):
            activation += points[point, coordinate] * weights[coordinate]
        if activation <= margin:
            for coordinate in range(len(weights)):
                weights[coordinate] += rates[point] * points[point, coordinate]
            num_updates += 1
    return num_updates
