"""The control groups of this process (Linux): the folders in which the limits of containers and services stand.

A process belongs to a group of version 2, or for each controller (`cpu`, `memory`) to one of version 1. The limits of
the groups around its group hold too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

GROUPS = "/proc/self/cgroup"  # a line for each group: number:controllers:path
TOP = "/sys/fs/cgroup"


def group_folders() -> list[Path]:
    """The folder of the control group of version 2, and those that it lies in."""
    return list(folders_upwards(TOP, own_path("")))


def old_group_folders(controller: str) -> list[Path]:
    """The folder of a controller's control group of version 1, and those that it lies in."""
    tops = [f"{TOP}/{name}" for name in (controller, "cpu,cpuacct") if controller in name.split(",")]
    return [folder for top in tops for folder in folders_upwards(top, own_path(controller))]


def own_path(controller: str) -> str:
    """The path of this process's group below the top; empty where it is unknown, or outside of what is mounted."""
    for line in read_lines(GROUPS):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            return path.strip("/") if ".." not in path.split("/") else ""
    return ""


@cache
def folders_upwards(top: str, own: str) -> tuple[Path, ...]:
    folder = Path(top) / own
    return tuple(each for each in (folder, *folder.parents) if each.is_relative_to(top))


def read_lines(path: str | Path) -> list[str]:
    try:
        return Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []


def least(limits: Iterable[float | None]) -> float | None:
    """The least of the limits; None where there is none."""
    return min((limit for limit in limits if limit is not None), default=None)
