"""The arguments that commands share: a model by name or file, evidence as `name=state`, and numbers.

Each parser of numbers has the sentence that refuses what is none.
"""

from __future__ import annotations

import glob
import math
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from juncture.cli.printing.output import WrongUsage, is_table
from juncture.cli.reading.completion import complete_finding, complete_method, complete_network
from juncture.errors import FormatError, InvalidData, UnknownVariable, Unsupported, hint
from juncture.formats.bundled import example, examples
from juncture.formats.files import SUFFIXES, read
from juncture.runtime.files import MAX_BYTES, file_not_found, read_at_most

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import BayesianNetwork
    from juncture.networks.decision_network import DecisionNetwork
    from juncture.networks.factor_product import FactorProduct
    from juncture.variables import Model, Scope

Network = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        autocompletion=complete_network,
        help="A model file, the name of a bundled network such as asia, or - for JSON on standard input.",
    ),
]
Given = Annotated[
    list[str],
    typer.Option(
        "--given",
        "-g",
        metavar="NAME=STATE",
        autocompletion=complete_finding,
        help="Evidence: an observed variable and its state, or its number; may be repeated.",
    ),
]
Likelihood = Annotated[
    list[str],
    typer.Option(
        "--likelihood",
        metavar="NAME=A,B,…",
        autocompletion=complete_finding,
        help="Soft evidence: the likelihood p(evidence | state) of each state; may be repeated.",
    ),
]
Do = Annotated[
    list[str],
    typer.Option(
        "--do",
        metavar="NAME=STATE",
        autocompletion=complete_finding,
        help="An intervention: a variable that is set to a state, or to a number, whatever its causes; repeatable.",
    ),
]
Normalize = Annotated[
    bool,
    typer.Option(
        "--normalize",
        help="Divide each row of probabilities in the file by its sum, where it holds counts or percentages.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        autocompletion=complete_method,
        help="The inference engine, such as junction-tree; auto chooses one.",
    ),
]


def whole_number(least: int = 0) -> Callable[[Any], int]:
    """The parser of whole numbers of at least `least`."""

    def parse(text: Any) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        return check_least(number, least, text, f"a whole number of at least {least}")

    return parse


def check_least(number: Any, least: float, text: Any, what: str) -> Any:
    if not (math.isfinite(number) and number >= least):
        raise typer.BadParameter(f"it must be {what}; got {str(text)!r}")
    return number


Seed = Annotated[
    int | None,
    typer.Option("--seed", parser=whole_number(), metavar="NUMBER", help="The same seed gives the same draws."),
]
UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def seconds(text: Any) -> float:
    """A time such as 10s, 500ms or 2min, in seconds; a number without a unit is in seconds."""
    unit = next((unit for unit in UNITS if str(text).endswith(unit)), "")
    try:
        number = float(str(text).removesuffix(unit)) * UNITS.get(unit, 1.0)
    except ValueError:
        number = math.nan
    return check_least(number, 0.0, text, "a time such as 10s, 500ms or 2min")


Budget = Annotated[
    float | None,
    typer.Option(
        "--budget",
        parser=seconds,
        metavar="TIME",
        help="The time that the answer may take, such as 10s; auto then approximates where an exact answer takes more.",
    ),
]
STANDARD_INPUT = "standard input"


def load(network: str, *, normalize: bool = False, takes: Callable[[Any], bool] | None = None) -> Any:
    """The network that an argument names; a model of another kind is refused unless the command takes it."""
    from juncture.networks.bayesian_network import BayesianNetwork
    from juncture.networks.factor_product import FactorProduct

    if is_table(network):
        raise Unsupported(
            f"this command takes a network, and {network} is named as a table of rows: see it with juncture info, and"
            f" learn a network from it with juncture learn {network}"
        )
    model = load_model(network, normalize=normalize)
    if not isinstance(model, BayesianNetwork | FactorProduct) and not (takes is not None and takes(model)):
        raise Unsupported(
            f"this command takes a network, and {network} holds a {type(model).__name__}: see it with juncture info,"
            f" and ask it {other_way(model)}"
        )
    return model


def other_way(model: object) -> str:
    """How to ask a model that is no product of factors."""
    from juncture.supervised.model import SupervisedModel

    if isinstance(model, SupervisedModel):
        return "with juncture predict"
    return "with juncture advise" if hasattr(model, "with_policy") else "in Python with juncture.read"


def load_model(network: str, *, normalize: bool = False) -> Any:
    """The model of any kind that an argument names; `normalize` divides each row of its file by its sum."""
    if network == "-":
        from juncture.formats.json import read_json
        from juncture.formats.row_repair import RowRepair

        rows = RowRepair(normalize=normalize)
        try:
            model = read_json(read_at_most(MAX_BYTES, standard_input_bytes(), STANDARD_INPUT), rows)
        except FormatError as error:
            raise error.in_file(f"{STANDARD_INPUT} (read as Juncture's JSON)") from error
        rows.warn(STANDARD_INPUT)
        return model
    if network in examples():
        return example(network)
    if Path(network).is_symlink() and not Path(network).exists():
        raise file_not_found(network)
    if not Path(network).exists():
        raise FormatError(
            f"there is no file {network!r}, and no bundled network of that name;"
            f" {hint(network, [*find_models(network), *examples()])}"
        )
    return read(network, normalize=normalize)


def standard_input_bytes() -> BinaryIO:
    """The bytes of standard input, which is read once."""
    if sys.stdin is None:
        raise FormatError("it is closed; give a file, or pipe something into the command", file=STANDARD_INPUT)
    return sys.stdin.buffer


def find_models(start: str) -> list[str]:
    """The files of models in the folder of a path that begin as it does, with another suffix or with more."""
    folder, name = Path(start).parent, Path(start).name
    files = sorted(folder.glob(f"{glob.escape(name)}*")) if folder.is_dir() and name else []
    models = [file for file in files if file.name.lower().removesuffix(".gz").endswith(SUFFIXES)]
    return [str(file) for file in models if file.name.startswith(f"{name}.")] or [str(file) for file in models]


def evidence(
    model: BayesianNetwork | FactorProduct | DecisionNetwork, given: Iterable[str], likelihood: Iterable[str] = ()
) -> dict[str, Any]:
    """Evidence from `name=state` and `name=0.2,0.9` texts."""
    pairs = [split_finding(text, model.variables) for text in given]
    soft = [split_finding(text, model.variables) for text in likelihood]
    findings: dict[str, Any] = {}
    for name, value in [*pairs, *((name, as_likelihood(model.variable(name), text)) for name, text in soft)]:
        if name in findings:
            raise InvalidData(f"{name!r} was given twice; give each variable once")
        findings[name] = value if not isinstance(value, str) else as_value(model.variable(name), value)
    return findings


def interventions(model: Any, texts: Iterable[str], observed: Iterable[str] = ()) -> dict[str, Any]:
    """The values that an intervention sets, from `name=state` texts; none of them is observed too."""
    changes: dict[str, Any] = {}
    seen = {split_finding(text, model.variables)[0] for text in observed}
    for name, value in (split_finding(text, model.variables, "an intervention") for text in texts):
        if name in changes:
            raise InvalidData(f"{name!r} was set twice; give each variable once")
        if name in seen:
            raise InvalidData(f"{name!r} is set by --do and observed too; leave out one of them")
        changes[name] = as_value(model.variable(name), value)
    return changes


def split_finding(text: str, variables: Scope, what: str = "evidence") -> tuple[str, str]:
    """`name=state` at the first `=` after which a variable's name ends; names may hold `=` themselves."""
    names = set(variables.names)
    if "=" not in text:
        raise WrongUsage(f"{what} is written NAME=STATE; got {text!r}")
    for index, character in enumerate(text):
        if character == "=" and text[:index] in names:
            return text[:index], text[index + 1 :]
    raise UnknownVariable.among(text.partition("=")[0], variables.names)


def check_names(model: Model, names: Iterable[str]) -> None:
    """Check that no name is evidence, which needs its flag before each: --given xray=yes --given smoke=no."""
    known = set(model.variables.names)
    for name in names:
        if name not in known and any(name.startswith(f"{other}=") for other in known):
            raise WrongUsage(f"{name!r} is evidence, which is given with its flag: --given {shlex.quote(name)}")


def split_names(text: str, known: Iterable[str]) -> list[str]:
    """One name, or several between commas; a name may hold commas itself."""
    return [text] if text in set(known) else [part.strip() for part in text.split(",")]


def as_value(variable: Any, text: str) -> Any:
    if not variable.is_real:
        return text
    number = as_number(text)
    if math.isnan(number):
        point = text.replace(",", ".", 1)
        advice = "" if math.isnan(as_number(point)) else f"; write {variable.name}={point}"
        raise InvalidData(f"{variable.name!r} is real-valued; {text!r} is not a number{advice}")
    return number


def as_number(text: str) -> float:
    """The number that a text is, else NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def as_likelihood(variable: Any, text: str) -> list[float]:
    if variable.is_real:
        raise InvalidData(
            f"{variable.name!r} is real-valued, and a likelihood has a number for each state; give what was observed,"
            f" --given {variable.name}=1.5"
        )
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise WrongUsage(f"a likelihood is one number for each state, such as 0.2,0.9; got {text!r}") from None


def real_number(least: float = -math.inf) -> Callable[[Any], float]:
    """The parser of finite numbers of at least `least`."""

    def parse(text: Any) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        return check_least(number, least, text, "a number" + ("" if least == -math.inf else f" of at least {least:g}"))

    return parse
