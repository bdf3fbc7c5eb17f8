"""The text of `--help`: usage, arguments and options by their names, without the types of Python."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

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


class Group(TyperGroup):
    """The command that has the others, with the same help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_parameters(self.get_params(ctx), formatter)
        with formatter.section("Commands"):
            commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
            formatter.write_dl([(name, command.help or "") for name, command in commands.items() if command])


def write_parameters(parameters: list[Any], formatter: Any) -> None:
    for title, wanted in (("Arguments", True), ("Options", False)):
        lines = [describe(parameter) for parameter in parameters if is_argument(parameter) == wanted]
        if lines:
            with formatter.section(title):
                formatter.write_dl(lines)


def describe(parameter: Any) -> tuple[str, str]:
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
