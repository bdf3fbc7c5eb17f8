"""The command line in this process, which saves the seconds that a new one takes to start."""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from juncture.base.compilation import COMPILATION_SETTING
from juncture.cli.main import run

OF_USERS = {**os.environ, COMPILATION_SETTING: "auto"}  # an environment in which small questions import no compiler


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()


class Terminal(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def juncture(*arguments: str, stdin: bytes = b"", encoding: str = "utf-8", width: int | None = None) -> Ended:
    """Run `juncture` with these arguments as its script does, on standard streams of this encoding.

    With a width, the output goes to a terminal of so many columns, without colours.
    """
    shown = io.TextIOWrapper if width is None else Terminal
    out, err = shown(io.BytesIO(), encoding), io.TextIOWrapper(io.BytesIO(), encoding)
    terminal = {} if width is None else {"COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": "1"}
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding)
    code: object = None
    with (
        mock.patch.dict(os.environ, terminal),
        mock.patch.object(sys, "argv", ["juncture", *arguments]),
        mock.patch.object(sys, "stdin", given),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),  # `run` sets how warnings are told
    ):
        try:
            run()
        except SystemExit as ended:
            code = ended.code
    written = []
    for stream in (out, err):
        stream.flush()
        written.append(stream.buffer.getvalue())  # type: ignore[attr-defined]
    return Ended(code if isinstance(code, int) else int(code is not None), *written)
