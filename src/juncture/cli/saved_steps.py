"""Steps of EM that are saved while `juncture fit --resume` learns from rows with holes, so that a later run goes on.

A step of EM depends on the model alone, and models are saved to the last bit: a run that was interrupted ends with the
model of one that was not.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from juncture.base.documents.json_text import decode, parse_strictly
from juncture.errors import FormatError, InvalidData
from juncture.learning.em.contract import EMState
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.em.steps import EMSteps
from juncture.learning.networks.saved_counts import KIND as COUNTS
from juncture.learning.networks.saved_counts import SAVE_SECONDS
from juncture.numerics.iteration import ProgressCallback, Trace, iterate
from juncture.runtime.files import read_bytes, write_text

KIND = "juncture EM"


class SavedModel(NamedTuple):
    """The model after some steps of EM on some files; `about` has what else the steps depend on."""

    files: list[list[Any]]
    about: dict[str, Any]
    num_steps: int = 0
    model: Any = None

    def save(self, path: str) -> None:
        from juncture.formats.json import write_json

        content = None if self.model is None else write_json(self.model)
        document = {"kind": KIND, "files": self.files, "about": self.about, "steps": self.num_steps, "model": content}
        write_text(path, json.dumps(document, ensure_ascii=False, allow_nan=False))

    def load(self, path: str) -> SavedModel:
        """The model that was saved for these files; without a model where the file holds counts, or is not there."""
        if not Path(path).exists():
            return self
        try:
            return self.parse(decode(read_bytes(path)), path)
        except FormatError as error:
            raise error.in_file(path) from None

    def parse(self, text: str, path: str) -> SavedModel:
        document = parse_strictly(text, path)
        kind = document.get("kind") if isinstance(document, dict) else None
        if kind not in {KIND, COUNTS}:
            raise FormatError("the file does not hold steps that can be resumed; give another name")
        if document.get("files") != self.files:
            raise InvalidData(f"{path} was saved for other files, or the files have changed: remove it, to start anew")
        if kind == COUNTS:
            return self
        if document.get("about") != self.about:
            raise InvalidData(f"{path} was saved for another network or prior: remove it, to start anew")
        number, content = document.get("steps"), document.get("model")
        is_number = isinstance(number, int) and not isinstance(number, bool) and number > 0
        if not is_number or not isinstance(content, str):
            raise FormatError("the steps are not complete: remove the file, to start anew")
        return self._replace(num_steps=number, model=read_model(content))


def read_model(content: str) -> Any:
    from juncture.formats.json import read_json
    from juncture.formats.rows import RowRepair

    try:
        return read_json(content.encode(), RowRepair())
    except UnicodeEncodeError as error:
        raise FormatError(f"the saved model is not one: {error.reason}") from None
    except FormatError as error:
        raise FormatError(f"the saved model is not one: {error.message}") from None


class Saver:
    """Keeps the model of the last step, and saves it every some seconds."""

    def __init__(self, saved: SavedModel, path: str) -> None:
        self.saved, self.path, self.last = saved, path, time.monotonic()

    def keep(self, model: Any) -> None:
        self.saved = self.saved._replace(num_steps=self.saved.num_steps + 1, model=model)
        if time.monotonic() - self.last > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        if self.saved.model is not None:
            self.saved.save(self.path)
        self.last = time.monotonic()


@dataclass(frozen=True, eq=False)
class SavingSteps(EMSteps[Any, Any]):
    """Steps of EM whose models are kept."""

    saver: Saver | None = None

    def step(self, state: EMState[Any, Any]) -> EMState[Any, Any]:
        moved = super().step(state)
        if self.saver is not None:
            self.saver.keep(moved.model)
        return moved


@dataclass(frozen=True)
class ResumedEM(ExpectationMaximization):
    """Expectation maximisation from one start, or from the model that was saved."""

    saver: Saver | None = None

    def run_from(
        self, start: Any, problem: Any, progress: ProgressCallback | None = None
    ) -> tuple[EMState[Any, Any], Trace]:
        saver = self.saver
        kept = None if saver is None else saver.saved.model
        steps = SavingSteps(problem, start if kept is None else kept, saver=saver)
        try:
            found, trace = iterate(steps, tolerance=self.tolerance, max_steps=self.max_steps, progress=progress)
        finally:
            if saver is not None:
                saver.save()
        return steps.finish(found), trace


def as_resumable(method: ExpectationMaximization, saved: SavedModel, path: str) -> ResumedEM:
    """The same method, whose steps are saved."""
    if method.restarts:
        raise InvalidData("--resume goes on from one start: leave --restarts out")
    return ResumedEM(method.tolerance, method.max_steps, saver=Saver(saved, path))


def describe_task(model: Any, prior: Any, latent: list[str]) -> dict[str, Any]:
    """What the steps of EM depend on beside the rows."""
    from juncture.formats.json import write_json

    return {"network": sha256(write_json(model).encode()).hexdigest(), "prior": prior, "latent": sorted(latent)}
