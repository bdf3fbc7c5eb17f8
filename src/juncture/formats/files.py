"""`read` and `write`: models from and to files, by suffix."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from juncture.errors import FormatError, hint, warn_user
from juncture.runtime.files import file_not_found, read_bytes, write_bytes

if TYPE_CHECKING:
    from juncture.families.family import Family
    from juncture.formats.row_repair import RowRepair
    from juncture.variables import Model


class Format(NamedTuple):
    """A format's name; its module has `read_<name>` and `write_<name>`, loaded when needed."""

    name: str
    suffixes: tuple[str, ...]

    def reader(self) -> Callable[[bytes, RowRepair], Any]:
        return getattr(self._module(), f"read_{self.name}")

    def writer(self) -> Callable[[Any], str]:
        return getattr(self._module(), f"write_{self.name}")

    def _module(self) -> Any:
        return importlib.import_module(f"juncture.formats.{self.name}")


XML_ROOT = re.compile(rb"<(bif|smile)[\s>]", re.IGNORECASE)
FORMATS = (
    Format("bif", (".bif",)),
    Format("xmlbif", (".xmlbif", ".bifxml", ".xml")),
    Format("uai", (".uai",)),
    Format("net", (".net",)),
    Format("xdsl", (".xdsl",)),
    Format("dne", (".dne", ".dnet")),
    Format("dsc", (".dsc",)),
    Format("fg", (".fg",)),
    Format("json", (".json",)),
)
SUFFIXES = tuple(suffix for file_format in FORMATS for suffix in file_format.suffixes)


def read(path: str | os.PathLike[str], *, normalize: bool = False) -> Any:
    """The model in a file.

    Parameters
    ----------
    path
        The file; its suffix gives the format: .bif, .xmlbif, .bifxml, .uai, .net, .xdsl, .dne, .dnet, .dsc, .fg or
        .json; an .xml file holds XMLBIF or XDSL. A further `.gz` says that the file is compressed.
    normalize
        Divide each row of a table of probabilities by its sum, for files that hold counts, percentages or rounded
        numbers; a row of zeros becomes uniform. A warning counts the rows. Without it, a row that is more than 1e-3
        away from 1 is an error.

    Returns
    -------
    BayesianNetwork, MarkovNetwork or FactorGraph
        A `.json` file may also hold any other kind of model, or a family.

    Examples
    --------
    >>> import juncture as jt
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     jt.write(jt.example("asia"), f"{folder}/asia.bif")
    ...     jt.read(f"{folder}/asia.bif") == jt.example("asia")
    True
    """
    from juncture.base.checks import check_path  # here, so that the shell completes names of files without NumPy
    from juncture.formats.row_repair import RowRepair

    path = check_path(path)
    file_format = format_of(path)
    rows = RowRepair(normalize=normalize)
    if not path.exists():
        raise file_not_found(path, example_advice(path))
    data = read_bytes(path)
    try:
        model = look_into(path, data, file_format).reader()(data, rows)
    except FormatError as error:
        raise error.in_file(str(path)) from error
    rows.warn(str(path))
    return model


def write(model: Model | Family, path: str | os.PathLike[str]) -> None:
    """Write a model to a file; every number reads back as the same double.

    The file is replaced only when all of it is written. A warning names what the format cannot express.

    Parameters
    ----------
    model
        A network or factor graph; for a `.json` file any kind of model, or a family.
    path
        The file; its suffix gives the format, as in `read`.

    Examples
    --------
    >>> import juncture as jt
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     jt.write(jt.example("asia"), Path(folder, "asia.bif"))
    ...     jt.read(Path(folder, "asia.bif")) == jt.example("asia")
    True
    """
    from juncture.base.checks import check_path

    path = check_path(path)
    try:
        data = format_of(path).writer()(model).encode("utf-8")
    except FormatError as error:
        raise error.in_file(str(path)) from error
    except UnicodeEncodeError as error:
        raise FormatError(
            f"a name or label is not valid text: {error.object[error.start : error.end]!r}", file=str(path)
        ) from error
    write_bytes(path, data)


def format_of(path: Path) -> Format:
    name = path.name.lower().removesuffix(".gz")
    for file_format in FORMATS:
        if name.endswith(file_format.suffixes):
            return file_format
    advice = example_advice(path) if not Path(name).suffix and not path.exists() else ""
    raise FormatError(
        f"the suffix {Path(name).suffix!r} belongs to no format; {advice or hint_suffix(Path(name).suffix)}",
        file=str(path),
    )


def hint_suffix(suffix: str) -> str:
    """The nearest suffix, or all of them; the format of the project itself comes first."""
    return hint(suffix, (".json", *SUFFIXES), limit=len(SUFFIXES))


def look_into(path: Path, data: bytes, file_format: Format) -> Format:
    """The format of a file whose suffix does not tell: `.xml` may be XMLBIF, with <BIF>, or XDSL, with <smile>."""
    if not path.name.lower().removesuffix(".gz").endswith(".xml"):
        return file_format
    root = XML_ROOT.search(data)
    wanted = "xdsl" if root and root[1].lower() == b"smile" else "xmlbif"
    return next(each for each in FORMATS if each.name == wanted)


def example_advice(path: Path) -> str:
    """How to get the bundled network that a path seems to name, or another."""
    from juncture.formats.bundled import examples

    close = get_close_matches(path.name.lower().partition(".")[0], examples(), n=1)
    name = close[0] if close else next(iter(examples()))
    return f"give the path of a file, or take a bundled network: juncture.example({name!r})"


def warn_losses(losses: list[str], format_name: str) -> None:
    """One warning that names everything a format could not keep."""
    if losses:
        warn_user(f"{format_name} cannot express all of this model: {'; '.join(losses)}", UserWarning)
