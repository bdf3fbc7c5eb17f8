"""`make mutants`: plant single faults in the files that a change touches, and list those that the tests do not find.

A fault is a sign, a comparison, an `and` or a small number that is another one. Each is planted in a copy of the
sources, and the tests of the same folder run on it, up to the first that fails; where the folder has no tests, those of
the folder above. Some faults change nothing that anyone can see: a list to read, not a verdict. Kernels are left out,
since each fault would compile them anew.

    python tests/mutants.py --base HEAD~3 --number 20 --seed 1
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "juncture"
OTHER: dict[type[ast.AST], ast.AST] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.And: ast.Or(),
    ast.Or: ast.And(),
}
LARGEST = 10  # of the small numbers
SECONDS = 600  # after which a fault that hangs the tests counts as found


class Fault(NamedTuple):
    """A file, the line of the fault, the expression as it is and as it becomes, and the source with it."""

    path: Path
    line: int
    before: str
    after: str
    source: str


def faults_of(path: Path) -> Iterator[Fault]:
    """All single faults of a file, in the order of its nodes."""
    text = path.read_text(encoding="utf-8")
    for number in range(sum(1 for _ in places(ast.parse(text)))):
        tree = ast.parse(text)
        node, field, index, value = list(places(tree))[number]
        before = ast.unparse(node)
        if index is None:
            setattr(node, field, value)
        else:
            getattr(node, field)[index] = value
        yield Fault(path, node.lineno, before, ast.unparse(node), ast.unparse(tree))  # type: ignore[attr-defined]


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, object]]:
    """Each node that can be wrong, with the field (and its index) that gets another value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OTHER:
            yield node, "op", None, OTHER[type(node.op)]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node, "op", None, ast.UAdd()
        elif isinstance(node, ast.Compare):
            yield from ((node, "ops", index, OTHER[type(op)]) for index, op in enumerate(node.ops) if type(op) in OTHER)
        elif isinstance(node, ast.Constant) and type(node.value) in {int, float} and abs(node.value) <= LARGEST:  # type: ignore[arg-type]
            yield node, "value", None, node.value + 1  # type: ignore[operator]


def changed_files(base: str) -> list[Path]:
    command = ["git", "diff", "--name-only", "--diff-filter=AM", base, "--", "src/juncture/*.py"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [ROOT / name for name in names if "kernels/" not in name]


def tests_of(path: Path) -> Path:
    """The folder of the tests of a module: that of the same name, or the next above it that there is."""
    folder = ROOT / "tests" / path.parent.relative_to(PACKAGE)
    while not any(folder.glob("test_*.py")):
        folder = folder.parent
    return folder


def is_found(fault: Fault, copy: Path) -> bool:
    """Whether the tests fail on a copy of the sources with the fault."""
    planted = copy / fault.path.relative_to(ROOT / "src")
    planted.write_text(fault.source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-m",
        "not fuzz and not slow",
        tests_of(fault.path),
    ]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=SECONDS)
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        shutil.copyfile(fault.path, planted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD~1", help="the commit since which files count as changed")
    parser.add_argument("--number", type=int, default=20, help="how many faults are planted")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    options = parser.parse_args()
    faults = [fault for path in changed_files(options.base) for fault in faults_of(path)]
    chosen = random.Random(options.seed).sample(faults, min(options.number, len(faults)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy)  # with the machine code of the kernels
        slipped = []
        for fault in chosen:
            found = is_found(fault, copy)
            slipped += [] if found else [fault]
            place = f"{fault.path.relative_to(ROOT)}:{fault.line}"
            print("found  " if found else "SLIPPED", f"{place}: {fault.before}  ->  {fault.after}", flush=True)  # noqa: T201
    print(f"{len(slipped)} of {len(chosen)} faults slipped through; {len(faults)} could be planted")  # noqa: T201


if __name__ == "__main__":
    main()
