"""Imports point down the layers, and inside every folder down an order of its own; also imports inside functions."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "juncture"

# the children of a folder in the order in which they may import each other: each only from those before it
ORDERS = {
    "": [
        "names", "errors", "base", "numerics", "runtime", "kernels", "drawing", "verbs", "variables", "data",
        "evidence", "graphs", "families", "factors", "components", "information", "networks", "inference", "learning",
        "clusters", "latent", "sequences", "supervised", "evaluation", "estimators", "formats", "plots", "structure",
        "sampling", "messages", "neural", "images", "results", "cli", "__main__",
    ],
    "base": [
        "shown", "values", "checks", "notes", "options", "methods", "intervals", "compilation", "kinds", "dispatch",
        "documents", "other_names",
    ],
    "base.documents": [
        "json_text", "node", "codec", "kinds",
    ],
    "numerics": [
        "stable", "iteration", "newton", "curvature", "descent", "quadrature",
    ],
    "runtime": ["control_groups", "memory", "parallel", "workers", "files"],
    "inference": [
        "engines", "exact", "bounded", "messages", "variational", "sampling", "automatic", "infer", "answer_blocks",
        "predictions", "most_probable", "log_prob", "sample", "planning", "sensitivity", "divergence", "explain",
        "decisions", "images", "picture", "verbs",
    ],
    "inference.exact": [
        "log_tables", "clique_messages", "clique_search", "best_states", "elimination", "semiring", "directed_form",
        "junction_tree", "gaussian", "hybrid", "enumeration", "magnetization",
    ],
    "learning": [
        "fit", "families", "newton", "learners", "em", "conditionals", "options", "networks", "undirected", "structure",
        "verbs",
    ],
    "learning.networks": [
        "templates", "document", "statistics", "saved_counts", "estimation", "posterior", "expectation", "problem",
        "gradient", "standard_errors", "fit",
    ],
    "learning.undirected": [
        "penalties", "statistics", "log_tables", "likelihood", "ascent", "margins", "pseudo_likelihood", "fit",
        "gaussian",
    ],
    "learning.structure": [
        "sets", "constraints", "streamed", "data", "scores", "holes", "independence", "graph_comparison", "searches",
        "forecast", "learn", "strength", "edge_posteriors",
    ],
    "families": [
        "constraints", "supports", "log_factorial", "matching", "gamma_divergence", "cumulative", "incomplete",
        "statistics", "display", "expectation", "family", "exponential_family", "minimal", "curved", "sampled",
        "conjugacy", "discrete", "continuous", "vectors", "posteriors", "registry", "statistics_document", "document",
    ],
    "sequences": [
        "options", "state_diagram", "hidden_markov", "markov_chains", "state_space", "conditional_random_field",
    ],
    "data": [
        "observations", "document", "column_kinds", "tables", "files", "dataset", "findings", "usable_columns",
        "missingness", "discretization", "sequence_steps", "sequences", "sources", "feature_names", "rows",
    ],
}  # fmt: skip


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def is_for_types(node: ast.AST) -> bool:
    """Whether this is `if TYPE_CHECKING:`, whose imports never run."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, however deep; expressions, which are many more and import nothing, are not looked into."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case) and not is_for_types(node):
            yield node
            yield from statements_that_run(node)


def imported_modules(source: str) -> set[str]:
    """The modules of the package that a source imports, wherever in it."""
    names = set()
    for node in statements_that_run(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    inside = (name.removeprefix("juncture.") for name in names if name.startswith("juncture."))
    return {name if name in MODULES else name.rpartition(".")[0] for name in inside}


@cache
def all_imports() -> dict[str, set[str]]:
    return {name: imported_modules(path.read_text(encoding="utf-8")) for name, path in MODULES.items() if name}


def branch(one: str, other: str) -> tuple[str, str, str] | None:
    """The folder in which two modules part, and the child of it that each belongs to; None if one holds the other."""
    mine, theirs = one.split("."), other.split(".")
    depth = next((at for at, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
    return None if depth is None else (".".join(mine[:depth]), mine[depth], theirs[depth])


def imports_within_folders() -> dict[str, dict[tuple[str, str], str]]:
    """For each folder: (importing child, imported child) → one import that makes it so."""
    found: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for module, imported in all_imports().items():
        for other in imported:
            parted = branch(module, other)
            if parted is not None:
                folder, mine, theirs = parted
                found[folder][mine, theirs] = f"{module} imports {other}"
    return found


def test_imports_point_down():
    found = imports_within_folders()
    for folder, order in ORDERS.items():
        upward = [why for (mine, theirs), why in found[folder].items() if order.index(theirs) > order.index(mine)]
        assert not upward, f"in {folder or 'juncture'}: {upward}"


def test_no_folder_has_a_cycle():
    cycles = []
    for folder, edges in imports_within_folders().items():
        graph: dict[str, set[str]] = defaultdict(set)
        for mine, theirs in edges:
            graph[mine].add(theirs)
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            way = error.args[1]
            steps = [edges.get((mine, theirs), "") for theirs, mine in pairwise(way)]
            cycles.append(f"{folder or 'juncture'}: {' → '.join(way)} ({'; '.join(steps)})")
    assert not cycles, "\n".join(cycles)


def test_every_folder_and_file_has_its_place_in_the_orders():
    for folder, order in ORDERS.items():
        prefix = f"{folder}." if folder else ""
        children = {name.removeprefix(prefix).split(".")[0] for name in MODULES if name and name.startswith(prefix)}
        assert children == set(order) & children == children, (folder, children - set(order))


def test_nothing_below_inference_imports_the_verbs():
    below = ORDERS[""][: ORDERS[""].index("inference")]
    users = [name for name, imported in all_imports().items() if name.split(".")[0] in below and "verbs" in imported]
    assert not users


def test_an_import_in_a_function_is_seen():
    assert imported_modules("def f():\n    from juncture.inference.infer import as_targets") == {"inference.infer"}
    assert imported_modules("from juncture.numerics import stable") == {"numerics.stable"}
    deep = (
        "class A:\n  def f(self):\n    try: pass\n    except E:\n      match x:\n"
        "        case 1: import juncture.base.checks"
    )
    assert imported_modules(deep) == {"base.checks"}
    assert imported_modules("if TYPE_CHECKING:\n  import juncture.base.checks") == set()


def test_only_kernels_import_numba():
    for name, path in MODULES.items():
        if name.split(".")[0] != "kernels" and name != "base.compilation":  # which asks whether it is installed
            assert "numba" not in path.read_text(encoding="utf-8"), name
