"""Rows that are read block by block, as often as an algorithm needs them: `as_source` and the contract `RowSource`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from juncture.data.sources.contract import Block, RowSource, is_source
    from juncture.data.sources.entries import as_source
    from juncture.data.sources.source import collect

__all__ = ["Block", "RowSource", "as_source", "collect", "is_source"]

PLACES = {
    "Block": "contract",
    "RowSource": "contract",
    "is_source": "contract",
    "as_source": "entries",
    "collect": "source",
}


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is asked for."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
