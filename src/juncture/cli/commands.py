"""The subcommands by name, and the text of `--help`.

A command is imported when it is called, so that help and completion stay quick. The help says usage, arguments and
options by their names, without the types of Python.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from juncture.errors import hint

# name → the first sentence of its help; the command is the function of this name in the module of this name
COMMANDS: dict[str, str] = {
    "info": (
        "Print the size of a network and the cost of exact inference, or the columns and missing cells of a table."
    ),
    "examples": "List the bundled networks: their names, sizes, and what they are about.",
    "query": "Print posterior marginals: the probability of each state given the evidence.",
    "mpe": "Find the most probable joint assignment of the unobserved variables (MPE).",
    "separation": (
        "Test whether the graph separates A and B given other variables (d-separation); if not, show an active trail."
    ),
    "sample": "Draw rows from a network or another model of rows, or from the posterior of a network given evidence.",
    "fit": "Learn the parameters of a network from data, by EM if values are missing; Ctrl-C keeps the best so far.",
    "learn": "Learn a network from data: first its graph, then its parameters.",
    "predict": "Predict one variable in each row from the other columns; values may be missing.",
    "evaluate": ("Predict every variable of a table from the other columns, and compare with what is there."),
    "compare": ("Judge learners that predict one column of a table, on the same folds; Ctrl-C keeps what is finished."),
    "cluster": "Sort the rows of a table into clusters, the components of a mixture; values may be missing.",
    "advise": "Find the best decisions of a decision network, and what each further observation would be worth.",
    "convert": "Write a network in another format; all probabilities keep their exact values.",
    "draw": ("Draw a network, a tree or a graph; with evidence or --beliefs, each node shows its posterior marginal."),
    "warmup": "Compile the numerical kernels now, so that the first large question does not wait for them.",
}
INTERRUPTED = 130  # the exit code of a command that Ctrl-C ends, also if it has kept what it had
SIGNALLED: list[int] = []  # the signals to end that have come


class Group(TyperGroup):
    """The command that has the others, with the same help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_parameters(self.get_params(ctx), formatter)
        with formatter.section("Commands"):
            commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
            formatter.write_dl([(name, command.help or "") for name, command in commands.items() if command])


class LazyGroup(Group):
    """The group of all subcommands; listing them imports none of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The name and the help of a command, for lists."""
        return Command(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments call, imported."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}; {hint(args[0], COMMANDS, limit=len(COMMANDS))}")
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name in COMMANDS else command, rest


def load_command(name: str) -> Any:
    function = getattr(import_module(f"juncture.cli.{name}"), name)
    app = typer.Typer(
        add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command(name, cls=Command)(end_when_unread(function))
    return typer.main.get_command(app)


def list_options(arguments: list[str]) -> list[str]:
    """The options of the command that the arguments call, by the names of its parameters."""
    name = next((word for word in arguments if not word.startswith("-")), "")
    if name not in COMMANDS:
        return []
    return [parameter.name for parameter in load_command(name).params if parameter.param_type_name == "option"]


def end_when_unread(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which ends without an error when its output is no longer read, and with 130 when interrupted."""

    @wraps(command)
    def reading(**options: Any) -> None:
        try:
            command(**options)
            sys.stdout.flush()
        except BrokenPipeError:
            discard_output()
            raise typer.Exit from None
        except KeyboardInterrupt:
            sys.stderr.write("juncture: interrupted\n")
            raise typer.Exit(INTERRUPTED) from None
        if SIGNALLED:  # the command has kept what it had so far
            raise typer.Exit(INTERRUPTED)

    return reading


@contextmanager
def interruptible() -> Iterator[None]:
    """Signals to end and of a closed terminal take the way of Ctrl-C: files are whole, and the best so far is kept."""
    SIGNALLED.clear()
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    is_main = threading.current_thread() is threading.main_thread()  # others may not say what a signal does
    for number in (number for number in numbers if is_main and before[number] is not signal.SIG_IGN):  # nohup
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in numbers if is_main else ():
            signal.signal(number, before[number])


def interrupt(number: int, _frame: Any) -> NoReturn:
    SIGNALLED.append(number)
    if number == getattr(signal, "SIGHUP", None):  # a terminal that is gone refuses what is written
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
                    os.dup2(open_null_stream().fileno(), stream.fileno())
    raise KeyboardInterrupt


def discard_output() -> None:
    """Discard the output that is still buffered, so that the interpreter does not report it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(open_null_stream().fileno(), stream.fileno())


def open_null_stream() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), mode="a", encoding="utf-8", closefd=False)


NEGATIVE_NUMBER = re.compile(r"-[0-9][0-9.]*")


class Command(TyperCommand):
    """A command whose help names what an argument is, not its type."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments; a negative number, which looks like an option, is taken as a number."""
        negative = next((word for word in args if NEGATIVE_NUMBER.fullmatch(word)), None)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if negative is not None and getattr(error, "option_name", "") == negative[:2]:
                ctx.fail(f"{negative} is no argument of this command: numbers of rows and the like are not negative")
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [usage_of(parameter) for parameter in self.get_params(ctx) if is_argument(parameter)] + ["[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_parameters(self.get_params(ctx), formatter)


def write_parameters(parameters: list[Any], formatter: Any) -> None:
    for title, wanted in (("Arguments", True), ("Options", False)):
        lines = [describe_parameter(parameter) for parameter in parameters if is_argument(parameter) == wanted]
        if lines:
            with formatter.section(title):
                formatter.write_dl(lines)


def describe_parameter(parameter: Any) -> tuple[str, str]:
    """The names of a parameter and its help, with the default where there is one to tell."""
    default, text = parameter.default, parameter.help or ""
    if parameter.required:
        return names_of(parameter), text if is_argument(parameter) else f"{text} [required]"
    is_told = not isinstance(default, bool) and isinstance(default, str | int | float)
    return names_of(parameter), f"{text} [default: {default}]" if is_told else text


def names_of(parameter: Any) -> str:
    if is_argument(parameter):
        return value_name(parameter)
    names = ", ".join(sorted(parameter.opts, key=len))
    return names if getattr(parameter, "is_flag", False) else f"{names} {value_name(parameter)}"


def usage_of(parameter: Any) -> str:
    name = value_name(parameter) + ("..." if parameter.nargs != 1 else "")
    return name if parameter.required else f"[{name}]"


def value_name(parameter: Any) -> str:
    """What stands for the value: ROWS, FILE, NUMBER."""
    return str(parameter.metavar or parameter.name.replace("_", "-").upper())


def is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")
