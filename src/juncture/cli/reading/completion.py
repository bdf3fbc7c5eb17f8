"""What the shell proposes when a word is completed: networks, variables, states, methods, scores and tests.

bash takes a word apart at `=` and adds a blank to what it completes, so that `NAME=STATE` needs a script of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from juncture.errors import JunctureError
from juncture.formats.bundled import example_bytes, examples
from juncture.formats.files import SUFFIXES, read
from juncture.runtime.files import read_bytes


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
    return starting_with(incomplete, variables_of(ctx))


def complete_finding(ctx: typer.Context, incomplete: str) -> list[str]:
    """`xray=`, and after it the states of xray."""
    variables = variables_of(ctx)
    found = [name for name in variables if incomplete.startswith(f"{name}=")]
    states = [f"{name}={state}" for name in found for state in variables[name]]
    return starting_with(incomplete, states or [f"{name}=" for name in variables])


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
    from juncture.learning.structure.independence import TESTS

    return starting_with(incomplete, TESTS)


def variables_of(ctx: typer.Context) -> dict[str, list[Any]]:
    """The variables of the network with their states; none where it cannot be read: errors have no place here."""
    words = [word for word in ctx.args if not word.startswith("-")]  # all of them, while an option has no value
    network = str(ctx.params.get("network") or next(iter(words), "-"))
    try:
        return {} if network == "-" else list_variables(network)
    except (JunctureError, OSError):
        return {}


def list_variables(network: str) -> dict[str, list[Any]]:
    """Variables and states, from the document itself where it is JSON: that takes a third of the time."""
    if network in examples() or network.endswith(".json"):
        data = example_bytes(network) if network in examples() else read_bytes(Path(network))
        with suppress(ValueError, TypeError, KeyError):
            return {each["name"]: each["states"] for each in json.loads(data)["variables"]}
    variables = getattr(read(network), "variables", ())
    return {variable.name: list(variable.states or ()) for variable in variables}


def starting_with(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]


# The words that bash has taken apart are joined where no blank stands between them. Of each proposal only what follows
# the last `=` or `:` is inserted, as bash keeps what stands before it. Blanks and signs in it are escaped.
SCRIPT = r"""
%(complete_func)s() {
    local IFS=$'\n' line="${COMP_LINE:0:COMP_POINT}" words=() word kept proposal
    for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
        if [[ ${#words[@]} -eq 0 || $line == [[:space:]]* ]]; then
            words+=("$word")
        else
            words[${#words[@]}-1]+="$word"
        fi
        line="${line#"${line%%%%[![:space:]]*}"}"
        line="${line#"$word"}"
    done
    if [[ $line == [[:space:]]* ]]; then
        words+=("${line#"${line%%%%[![:space:]]*}"}")
    else
        words[${#words[@]}-1]+="$line"
    fi
    local last=$((${#words[@]} - 1)) is_quoted=""
    word="${words[last]}"
    [[ $word == --*=* ]] && word="${word#*=}"
    kept="${word%%"${word##*[=:]}"}"
    if [[ $word == [\'\"]* ]]; then
        is_quoted=yes kept=""
    fi
    COMPREPLY=()
    for proposal in $( env COMP_WORDS="${words[*]}" COMP_CWORD=$last %(autocomplete_var)s=complete_bash $1 ); do
        proposal="${proposal#"$kept"}"
        [[ $is_quoted ]] || printf -v proposal %%q "$proposal"
        COMPREPLY+=("$proposal")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace
    fi
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""


def replace_bash_script() -> None:
    """Let `--install-completion` and `--show-completion` give this script in place of Typer's."""
    scripts = getattr(import_module("typer._completion_shared"), "_completion_scripts", {})
    if "bash" in scripts:
        scripts["bash"] = SCRIPT
