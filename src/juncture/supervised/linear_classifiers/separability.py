"""Linear separability by a linear program: a hyperplane with each class on a side of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array
from juncture.data.feature_names import Names, as_table, find_names, select_columns
from juncture.data.rows import read_columns
from juncture.errors import InvalidData


def find_separation(points: Any, labels: Any) -> tuple[np.ndarray, float] | None:
    """Weights and bias of a hyperplane that separates two classes, if there is one.

    The linear program is feasible if and only if the classes are separable: t_n (w·x_n + b) ≥ 1 for all points, where
    t_n is 1 for the second class and -1 for the first.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first.

    Returns
    -------
    tuple or None
        The weights, (coordinate,), and the bias; None where the classes are not separable.

    Examples
    --------
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> find_separation(corners, [False, True, True, False]) is None  # exclusive or
    True
    >>> weights, bias = find_separation(corners, [False, False, False, True])
    >>> [bool(weights @ corner + bias > 0) for corner in np.array(corners)]
    [False, False, False, True]
    """
    from scipy.optimize import linprog

    places = check_points(points)
    signs = np.where(check_labels(labels, len(places)), 1.0, -1.0)
    lifted = np.column_stack([places, np.ones(len(places))])
    found = linprog(np.zeros(lifted.shape[1]), -signs[:, None] * lifted, -np.ones(len(places)), bounds=(None, None))
    return (found.x[:-1], float(found.x[-1])) if found.status == 0 else None


def check_points(points: Any, names: Names | None = None) -> np.ndarray:
    """Points as (point, coordinate); numbers are points on a line. With names, tables are taken by name."""
    table = select_columns(points, names)
    columns = read_columns(table)
    array = check_array(table, "the points") if columns is None else columns
    places = array[:, None] if array.ndim == 1 else array
    if places.ndim != 2:
        raise InvalidData(f"points are numbers, (point, coordinate) or (point,); got the shape {array.shape}")
    if not np.isfinite(places).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(places))[0])
        raise InvalidData(
            f"points are finite numbers, and row {row}, column {column} is {places[row, column]}: leave the row out,"
            " or fill the hole"
        )
    return places


def read_points(points: Any) -> tuple[np.ndarray, Names | None]:
    """Points to learn from as (point, coordinate), and the names of the coordinates."""
    table = as_table(points)
    return check_points(table), find_names(table)


def check_labels(labels: Any, num_points: int) -> np.ndarray:
    """One truth value a point."""
    array = check_array(labels, "the labels", ndim=1)
    if len(array) != num_points or not np.isin(array, (0, 1)).all():
        raise InvalidData(f"labels are 0 or 1, one for each of the {num_points} points; got {array.tolist()}")
    return array == 1
