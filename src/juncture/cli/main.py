"""The `juncture` command: its subcommands, exit codes and error messages.

Exit codes: 0 success, 1 an error in the input (explained on standard error), 2 wrong usage, 130 interrupted. Messages
of the library are said in the words of the command line: `method='ges'` becomes `--method ges`.
"""

from __future__ import annotations

import errno
import io
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

import juncture
from juncture.cli.commands import INTERRUPTED, LazyGroup, discard_output, interruptible, list_options, open_null_stream
from juncture.cli.printing.flags import use_flags
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
