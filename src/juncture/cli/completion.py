"""What the shell proposes when a word is completed: networks, variables, states, methods, scores and tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from juncture.errors import JunctureError
from juncture.formats.bundled import examples
from juncture.formats.files import SUFFIXES, read


def complete_network(incomplete: str) -> list[str]:
    """Bundled networks, and folders and files of models beside what is typed."""
    folder = incomplete.rpartition("/")[0]
    start = f"{folder}/" if "/" in incomplete else ""
    paths = sorted(Path(start or ".").iterdir()) if Path(start or ".").is_dir() else []
    files = [f"{start}{path.name}{'/' if path.is_dir() else ''}" for path in paths if not path.name.startswith(".")]
    models = [file for file in files if file.endswith(("/", *SUFFIXES, *(f"{suffix}.gz" for suffix in SUFFIXES)))]
    return starting_with(incomplete, [*examples(), *models])


def complete_variable(ctx: typer.Context, incomplete: str) -> list[str]:
    """The variables of the network that the command names."""
    return starting_with(incomplete, [variable.name for variable in variables_of(ctx)])


def complete_finding(ctx: typer.Context, incomplete: str) -> list[str]:
    """`xray=`, and after it the states of xray."""
    found = [variable for variable in variables_of(ctx) if incomplete.startswith(f"{variable.name}=")]
    states = [f"{variable.name}={state}" for variable in found for state in variable.states or ()]
    return starting_with(incomplete, states or [f"{variable.name}=" for variable in variables_of(ctx)])


def complete_method(incomplete: str) -> list[str]:
    from juncture.inference.infer import METHODS

    return starting_with(incomplete, ["auto", *METHODS])


def complete_search(incomplete: str) -> list[str]:
    from juncture.learning.structure.learn import SEARCHES

    return starting_with(incomplete, ["auto", *SEARCHES])


def complete_score(incomplete: str) -> list[str]:
    from juncture.learning.structure.scores.scores import SCORES

    return starting_with(incomplete, SCORES)


def complete_test(incomplete: str) -> list[str]:
    from juncture.learning.structure.independence.tests import TESTS

    return starting_with(incomplete, TESTS)


def variables_of(ctx: typer.Context) -> Iterable[Any]:
    """The variables of the network; none where it cannot be read, since a completion has no place for errors."""
    words = [word for word in ctx.args if not word.startswith("-")]  # all of them, while an option has no value
    network = str(ctx.params.get("network") or next(iter(words), "-"))
    try:
        model = None if network == "-" else load_network(network)
    except (JunctureError, OSError):
        return ()
    return getattr(model, "variables", ())


def load_network(network: str) -> Any:
    from juncture.formats.bundled import example

    return example(network) if network in examples() else read(network)


def starting_with(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]
