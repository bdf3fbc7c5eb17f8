"""Statistics from plain data: `statistics_from_dict` and `statistics_from_json` undo `to_dict` and `to_json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juncture.base.checks import check_mapping
from juncture.base.documents.json_text import parse_strictly
from juncture.errors import FormatError, InvalidData, InvalidModel, Unsupported, hint
from juncture.families.family import Family
from juncture.families.registry import COMPOSED, FAMILIES
from juncture.families.statistics.checks import check_statistics
from juncture.families.statistics.statistics import Statistics


def statistics_from_dict(document: Mapping[str, Any]) -> Statistics:
    """The statistics that `Statistics.to_dict` wrote."""
    kind, family = _kind_and_family(document)
    names = [name for name in kind._fields if name != "family"]
    if missing := [name for name in names if name not in document and name != "log_base_rest"]:
        raise InvalidData(f"statistics need {', '.join(missing)}")
    try:
        found = kind(family, **{name: _field(name, document[name]) for name in names if name in document})
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InvalidData(f"these are no statistics of {family.__name__}: {error}") from error
    check_statistics(found)
    return found


def _kind_and_family(document: Mapping[str, Any]) -> tuple[type[Statistics], type[Family]]:
    """The classes that the entries "kind" and "family" name."""
    known_kinds: list[type[Statistics]] = [Statistics, *Statistics.__subclasses__()]
    kinds, families = {kind.__name__: kind for kind in known_kinds}, FAMILIES | COMPOSED
    kind, family = kinds.get(str(document.get("kind"))), families.get(str(document.get("family")))
    if kind is None or family is None:
        nearest = hint(document.get("kind"), kinds) if kind is None else hint(document.get("family"), families)
        raise InvalidData(
            f"no statistics of the kind {document.get('kind')!r} of a family {document.get('family')!r}; {nearest}"
        )
    return kind, family


def _field(name: str, value: Any) -> Any:
    """The value of one field; the parts of several columns are statistics themselves."""
    if name != "parts":
        return value
    return [statistics_from_dict(check_mapping(part, "the statistics of a column")) for part in value]


def statistics_from_json(text: str) -> Statistics:
    """The statistics that `Statistics.to_json` wrote; a `FormatError` says what is wrong with any other text.

    Parameters
    ----------
    text
        The text of a JSON document.

    Returns
    -------
    Statistics
        The statistics, of the family that the text names.

    Examples
    --------
    >>> import juncture as jt
    >>> counts = jt.Poisson.statistics([2, 0, 3])
    >>> jt.statistics_from_json(counts.to_json()) == counts
    True
    """
    document = parse_strictly(text, "statistics")
    if not isinstance(document, dict):
        raise FormatError("statistics are one JSON object")
    try:
        return statistics_from_dict(document)
    except (InvalidData, InvalidModel, Unsupported) as error:
        raise FormatError(str(error)) from error
