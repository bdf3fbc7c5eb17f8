"""Processes that compile kernels, forked from one that has imported Numba, which takes longer than what they do."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, CompletedProcess, Popen
from tempfile import TemporaryFile
from typing import IO, Any


class KernelProcesses:
    """Runs scripts, each in a process of its own, in which every warning is an error."""

    def __init__(self, server: Popen[str]) -> None:
        self.server = server

    def run(self, script: str, environment: dict[str, str]) -> CompletedProcess[str]:
        return self.run_at_once([script], environment)[0]

    def run_at_once(self, scripts: list[str], environment: dict[str, str]) -> list[CompletedProcess[str]]:
        """Run all of them at the same time; the environment names the package as `PYTHONPATH`."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        print(json.dumps([scripts, environment]), file=self.server.stdin, flush=True)
        return [CompletedProcess("python", *one) for one in json.loads(self.server.stdout.readline())]


@contextmanager
def open_processes() -> Iterator[KernelProcesses]:
    command = [sys.executable, "-P", "-B", "-W", "error", __file__]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA")}
    environment["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads should not be forked
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment) as server:
        yield KernelProcesses(server)


# --- in the process that is forked -----------------------------------------------------------------------------------


def serve() -> None:
    import numba

    numba.njit(lambda value: value + 1)(1)  # the first function lets Numba import the rest of itself
    for line in sys.stdin:
        scripts, environment = json.loads(line)
        started = [start(script, environment) for script in scripts]
        sys.stdout.write(json.dumps([wait_for(*one) for one in started]) + "\n")
        sys.stdout.flush()


def start(script: str, environment: dict[str, str]) -> tuple[int, IO[bytes], IO[bytes]]:
    out, err = TemporaryFile(), TemporaryFile()  # noqa: SIM115  (closed once they are read)
    process = os.fork()
    if not process:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        run_and_exit(script, environment)
    return process, out, err


def wait_for(process: int, out: IO[bytes], err: IO[bytes]) -> tuple[int, str, str]:
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code, read_again(out), read_again(err)


def read_again(file: IO[bytes]) -> str:
    with file:
        file.seek(0)
        return file.read().decode()


def run_and_exit(script: str, environment: dict[str, str]) -> None:
    import numba

    code = 1
    try:
        os.environ.clear()
        os.environ.update(environment)
        settings: Any = numba.config
        settings.CACHE_DIR = environment.get("NUMBA_CACHE_DIR", "")
        sys.path.insert(0, environment["PYTHONPATH"])
        exec(compile(script, "script", "exec"), {"__name__": "__main__"})  # noqa: S102
        code = 0
    except BaseException:  # noqa: BLE001  the process ends here, and its error is read by the test
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
