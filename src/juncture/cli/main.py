"""The `juncture` command: its subcommands, exit codes and error messages.

Exit codes: 0 success, 1 an error in the input (explained on standard error), 2 wrong usage, 130 interrupted. Messages
of the library are said in the words of the command line: `method='ges'` becomes `--method ges`.
"""

from __future__ import annotations

import errno
import io
import re
import shlex
import sys
import warnings
from collections.abc import Iterable
from typing import Annotated, Any, NoReturn

import typer

import juncture
from juncture.cli.commands import INTERRUPTED, LazyGroup, discard_output, interruptible, list_options, open_null_stream
from juncture.cli.printing.output import FOR_THE_EYE, WrongUsage, print_note
from juncture.cli.reading.completion import replace_bash_script
from juncture.errors import CONTROLS, JunctureError

app = typer.Typer(
    cls=LazyGroup,
    help="Probabilistic graphical models: inspect, query, learn, sample, draw and convert networks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # files that are written have names; standard output has none


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"juncture {juncture.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Probabilistic graphical models: inspect, query, learn, sample, draw and convert networks."""


def run() -> NoReturn:
    """Run the command line; an error is printed as one sentence on standard error."""
    prepare_streams()
    replace_bash_script()
    warnings.showwarning = print_warning
    warnings.simplefilter("always")
    is_plain = not any(map(CONTROLS.search, sys.argv))
    try:
        # if not standalone, what is wrong with the arguments is printed below
        with interruptible():
            code = app(prog_name="juncture", standalone_mode=is_plain)
    except KeyboardInterrupt:
        end(INTERRUPTED, "interrupted")
    except WrongUsage as error:
        end(2, str(error))
    except JunctureError as error:
        end(1, str(error))
    except OSError as error:
        where = error.filename or ("standard output" if error.errno in NO_ROOM else "")
        end(1, ": ".join(filter(None, (error.strerror or str(error), where))))
    except Exception as error:
        if is_plain or not hasattr(error, "format_message"):
            raise
        end(2, error.format_message())
    end(code or 0)


def prepare_streams() -> None:
    """Open standard output and error if they were closed; tables and notes follow the encoding of the terminal."""
    sys.stdout, sys.stderr = sys.stdout or open_null_stream(), sys.stderr or open_null_stream()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=FOR_THE_EYE)  # a terminal without some letters still gets an answer


def end(code: int, message: str = "") -> NoReturn:
    """Print an error message, if there is one, and exit; output that no process reads any more is dropped."""
    try:
        if message:
            print_note(use_flags(message, list_options(sys.argv[1:])))
        sys.stderr.flush()
        sys.stdout.flush()
    except OSError:
        discard_output()
    sys.exit(code)


def print_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    print_note(use_flags(f"warning: {message}", list_options(sys.argv[1:])))


PYTHON_CODE = r"jt\.\w+(?:\([^()]*\)|\.\w+)*"

# what a message says to somebody who writes Python, and to somebody who writes commands
PHRASES = (
    (re.compile(rf"{PYTHON_CODE},? or (?=juncture |--)"), ""),
    (re.compile(rf"{PYTHON_CODE} ([^()]*) \(on the command line: (--[\w-]+)\)"), r"\2 \1"),
    (re.compile(r"(--[\w-]+) on the command line"), r"\1"),
    (re.compile(r"ask for them one by one, or infer by another method"), "leave out --joint, or give another --method"),
    (
        re.compile(r"draw rows by jt\.sample and look at these"),
        "leave out --joint, or draw rows with juncture sample and look at these",
    ),
    (
        re.compile(r"column '([^']+)'(.*); leave it out, or declare it in `variables`"),
        r"column '\1'\2; leave it out with --ignore \1",
    ),
    (
        re.compile(
            r"give more rows, drop a parent, or give a prior, prior=\{'.*?': jt\.NormalInverseGamma\([^()]*\)\}"
        ),
        "give more rows, or fewer parents (juncture learn --max-parents)",
    ),
)


def use_flags(message: str, options: Iterable[str]) -> str:
    """The message with the options of the command as flags, where it names them as arguments of Python.

    >>> use_flags("take score='bge', or add it to `missing`", ["score", "missing"])
    'take --score bge, or add it to --missing'
    """
    for pattern, words in PHRASES:
        message = pattern.sub(words, message)
    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    if not names:
        return message
    message = re.sub(rf"(?<![\w.-])({names})=(['\"])(.*?)\2", lambda found: as_flag(found[1], found[3]), message)
    message = re.sub(rf"(?<![\w.-])({names})= ", lambda found: f"{as_flag(found[1])} ", message)
    return re.sub(rf"`({names})`", lambda found: as_flag(found[1]), message)


def as_flag(name: str, value: str | None = None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {shlex.quote(value)}"
