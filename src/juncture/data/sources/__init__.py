"""Rows that are read block by block, as often as an algorithm needs them: `as_source` and the contract `RowSource`."""

from __future__ import annotations

from juncture.data.sources.contract import Block, RowSource, is_source
from juncture.data.sources.entries import as_source
from juncture.data.sources.source import collect

__all__ = ["Block", "RowSource", "as_source", "collect", "is_source"]
