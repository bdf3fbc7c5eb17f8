"""What Spark cannot do, in one sentence: types of columns without states or numbers, and errors of its queries."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from juncture.data.tables.export import import_package
from juncture.errors import InvalidData, JunctureError

INSTEAD = {
    "struct": "select its fields, as {name}.field",
    "map": "select its values, as {name}[key]",
    "variant": "select its values with variant_get",
    "interval": "make a number of it, such as the days",
    "vector": "make an array of it with pyspark.ml.functions.vector_to_array",
}
HINTS = {
    "No module named": "the Python of the workers lacks it: set PYSPARK_PYTHON to one that has what this one has",
    "PYTHON_VERSION_MISMATCH": "set PYSPARK_PYTHON to the same Python on the workers as here",
    "maxResultSize": "set spark.driver.maxResultSize higher, or give the frame more partitions",
    "FILE_NOT_EXIST": "files that changed after the frame was made are read with a new frame",
}


def check_types(schema: Any, names: Sequence[str]) -> None:
    """Refuse columns whose cells are neither states nor numbers nor vectors of numbers, before a task meets them."""
    for field in schema:
        kind = field.dataType.simpleString()
        word = next((word for word in INSTEAD if word in kind.partition("<")[0]), None)
        if field.name in names and word is not None:
            instead = INSTEAD[word].format(name=field.name)
            raise InvalidData(
                f"the column {field.name!r} of the Spark frame has the type {kind}, whose cells are neither states nor"
                f" numbers: leave it out, or {instead}"
            )


def intervals(schema: Any) -> list[str]:
    """The columns that Spark does not hand to Python and take back."""
    return [field.name for field in schema if field.dataType.simpleString().startswith("interval")]


@contextmanager
def spark_errors() -> Iterator[None]:
    """The errors of Spark as one sentence, without the stacks of its two languages."""
    errors = [import_package("pyspark.errors", "spark").PySparkException]
    if "py4j.protocol" in sys.modules:  # which a client of Spark Connect does without
        errors.append(sys.modules["py4j.protocol"].Py4JError)
    try:
        yield
    except JunctureError:
        raise
    except tuple(errors) as error:
        reason = find_reason(str(error))
        hint = next((f" ({hint})" for mark, hint in HINTS.items() if mark in str(error)), "")
        raise InvalidData(f"Spark cannot run the query of the frame: {reason}{hint}") from error


def find_reason(text: str) -> str:
    """The line that says what went wrong: the last of a stack of Python, the first that is Spark's own.

    >>> find_reason("[PATH_NOT_FOUND] Path does not exist: file:/rows. SQLSTATE: 42K03")
    '[PATH_NOT_FOUND] Path does not exist: file:/rows.'
    """
    lines = [line for line in text.splitlines() if line.strip() and not line[0].isspace()]
    is_python = "Traceback (most recent call last)" in text
    own = [line for line in lines if not line.startswith(("An error occurred while calling", "SQLSTATE"))]
    reason = own[-1 if is_python else 0] if own else text
    return " ".join(reason.lstrip(": ").partition(" SQLSTATE:")[0].split())
