"""Trees and forests as plain data.

A tree is {"inputs": […], "target": {…}, "criterion": "…", "missing": "…", "split": […], "threshold": […],
"num_children": […], "branch": […], "statistics": [[…]]}, where null stands for a node without a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from juncture.base.documents.codec import CODES, NUMBER, Given, Record, list_of, one_of, or_null, unchanged
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import Node
from juncture.data.document import VARIABLE, VARIABLES
from juncture.supervised.trees.forest import VOTES, RandomForest
from juncture.supervised.trees.growth import CRITERIA, MISSING
from juncture.supervised.trees.tree import ARRAYS, DecisionTree


def read_criterion(node: Node, values: Mapping[str, Any]) -> str:
    return node.one_of(("variance",) if values["target"].is_real else tuple(CRITERIA))


TREE = Record(
    DecisionTree,
    *("inputs", "target", "criterion", "missing", *ARRAYS),
    inputs=VARIABLES,
    target=VARIABLE,
    criterion=Given(unchanged, read_criterion),
    missing=one_of(tuple(MISSING)),
    split=CODES,
    threshold=list_of(or_null(NUMBER, math.nan, is_null=math.isnan)),
    num_children=CODES,
    branch=CODES,
)
FOREST = Record(RandomForest, "vote", "out_of_bag_error", "trees", vote=one_of(VOTES), trees=list_of(TREE))

register_kind(TREE, FOREST)
