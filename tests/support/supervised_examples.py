"""Arguments that the public callables of `jt.supervised` take, by the call."""

from __future__ import annotations

from typing import Any

SUPERVISED: dict[str, list[dict[str, Any]]] = {
    "find_separation": [{"points": [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], "labels": [0, 1, 0]}],
}
