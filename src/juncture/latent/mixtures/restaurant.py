"""The Chinese restaurant process: partitions drawn from a Dirichlet process, whose number of clusters grows with rows.

The customer i (from 0) sits down at a table with probability in proportion to the number of customers there, or at a
new one in proportion to the concentration α; so the expected number of tables is Σ α/(α + i).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_count, check_number
from juncture.options import as_generator


def chinese_restaurant(num_customers: int, concentration: float, *, rng: Any = None) -> np.ndarray:
    """The table of each customer, numbered in the order in which tables are taken.

    Parameters
    ----------
    num_customers
        The number of customers, which are rows to cluster.
    concentration
        α > 0: the larger, the more tables.
    rng
        The source of random numbers.

    Returns
    -------
    numpy.ndarray
        (customer,)

    Examples
    --------
    >>> import juncture as jt
    >>> jt.chinese_restaurant(8, 1.0, rng=0).tolist()
    [0, 0, 0, 0, 1, 2, 1, 0]
    """
    count = check_count(num_customers, "the number of customers")
    alpha = check_number(concentration, "the concentration", above=0.0, finite=True)
    generator = as_generator(rng)
    is_new = generator.random(count) * (alpha + np.arange(count)) >= np.arange(count)  # with probability α/(α + i)
    friends = (generator.random(count) * np.arange(count)).astype(np.int64)  # a customer whose table is joined
    tables, num_tables = np.zeros(count, np.int64), 0
    for customer in range(count):
        if is_new[customer]:
            tables[customer] = num_tables
            num_tables += 1
        else:
            tables[customer] = tables[friends[customer]]
    return tables


def expected_tables(num_customers: int, concentration: float) -> float:
    """The expected number of tables in a Chinese restaurant, Σ α/(α + i) over the customers i = 0, 1, ….

    Parameters
    ----------
    num_customers
        The number of customers.
    concentration
        α > 0.

    Returns
    -------
    float
        The expected number of clusters of a Dirichlet process.

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.expected_tables(3, 1.0), 6)
    1.833333
    """
    count = check_count(num_customers, "the number of customers")
    alpha = check_number(concentration, "the concentration", above=0.0, finite=True)
    return float(np.sum(alpha / (alpha + np.arange(count))))
