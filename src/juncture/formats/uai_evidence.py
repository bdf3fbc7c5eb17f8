"""UAI evidence files: variables by their position in the model, states by their position in the variable.

A file holds one sample, `n variable state variable state …`, or, in the older form, the number of samples on a line of
its own and then each sample like that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from juncture.base.checks import check_iterable, check_mapping, check_path, shown
from juncture.errors import FormatError, UnknownVariable, Unsupported
from juncture.formats.uai import NumberReader, blank_comments
from juncture.runtime.files import read_bytes, write_bytes
from juncture.variables import Assignment, Scope, Variable, as_plain, is_missing

if TYPE_CHECKING:
    from juncture.variables import Model


def read_evidence(path: str | os.PathLike[str], model: Model) -> Assignment | list[Assignment]:
    """The evidence in a UAI evidence file, by names and labels.

    Parameters
    ----------
    path
        The file.
    model
        The model whose variables and states the file refers to by position.

    Returns
    -------
    dict or list of dict
        Name → state; a list where the file has several samples.

    Examples
    --------
    >>> import juncture as jt
    >>> from tempfile import TemporaryDirectory
    >>> model = jt.example("asia")
    >>> with TemporaryDirectory() as folder:
    ...     jt.write_evidence({"xray": "yes"}, model, f"{folder}/asia.evid")
    ...     jt.read_evidence(f"{folder}/asia.evid", model)
    {'xray': 'yes'}
    """
    try:
        return parse_evidence(read_bytes(check_path(path)), variables_of(model))
    except FormatError as error:
        raise error.in_file(os.fspath(path)) from error


def write_evidence(
    evidence: Mapping[str, Any] | Sequence[Mapping[str, Any]], model: Model, path: str | os.PathLike[str]
) -> None:
    """Write a UAI evidence file; missing values are left out.

    Parameters
    ----------
    evidence
        A mapping from names to states, or a list of mappings for several samples.
    model
        The model whose variables the names refer to.
    path
        The file.

    Examples
    --------
    >>> import juncture as jt
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     jt.write_evidence({"xray": "yes"}, jt.example("asia"), Path(folder, "asia.evid"))
    ...     Path(folder, "asia.evid").read_text().split()  # one: variable 6, state 0
    ['1', '6', '0']
    """
    try:
        write_bytes(check_path(path), evidence_text(evidence, variables_of(model)).encode())
    except FormatError as error:
        raise error.in_file(os.fspath(path)) from error


def variables_of(model: Model) -> Scope:
    variables = getattr(model, "variables", None)
    if not isinstance(variables, Scope) or isinstance(model, type):
        raise Unsupported(f"evidence is about the variables of a network or factor graph; got {shown(model)}")
    return variables


def parse_evidence(data: bytes, variables: Scope) -> Assignment | list[Assignment]:
    data = blank_comments(data)
    numbers = NumberReader(data)
    counts = numbers.take_whole(numbers.remaining, "a number of an evidence file")
    numbers.at = 0
    if has_several(data, counts):
        samples = [take_sample(numbers, variables) for _ in range(numbers.take_count("the number of samples"))]
    else:
        samples = [take_sample(numbers, variables)]
    numbers.finish()
    return samples[0] if len(samples) == 1 else samples


def has_several(data: bytes, counts: list[int]) -> bool:
    """Whether the first number counts samples: it has a line of its own, and each line after it is a sample.

    Samples may be broken over lines if the file cannot be read as a single one.
    """
    lengths = [length for line in data.splitlines() if (length := len(line.split()))]
    if len(lengths) < 2 or lengths[0] != 1:
        return False
    starts = accumulate(lengths[:-1])
    by_line = all(length == 1 + 2 * counts[start] for start, length in zip(starts, lengths[1:], strict=True))
    return by_line or len(counts) != 1 + 2 * counts[0]


def take_sample(numbers: NumberReader, variables: Scope) -> Assignment:
    findings: Assignment = {}
    for _ in range(numbers.take_count("the number of findings", below=len(variables) + 1)):
        variable = variables[numbers.take_count("a finding's variable", below=len(variables))]
        if variable.name in findings:
            raise numbers.error(f"the variable {variable.name!r} is observed twice in one sample")
        with numbers.locate_errors(numbers.at):
            labels = variable.labels
        findings[variable.name] = labels[numbers.take_count(f"the state of {variable.name!r}", below=len(labels))]
    return findings


def evidence_text(evidence: Mapping[str, Any] | Sequence[Mapping[str, Any]], variables: Scope) -> str:
    if isinstance(evidence, Mapping):
        return sample_text(evidence, variables) + "\n"
    samples = check_iterable(evidence, "the evidence")
    if not samples:
        raise FormatError("an evidence file holds at least one sample")
    return "\n".join([str(len(samples)), *(sample_text(sample, variables) for sample in samples)]) + "\n"


def sample_text(sample: Mapping[str, Any], variables: Scope) -> str:
    indices = {name: index for index, name in enumerate(variables.names)}
    findings = []
    for name, value in check_mapping(sample, "a sample of evidence").items():
        if name not in indices:
            raise UnknownVariable.among(name, indices)
        if not is_missing(value):
            findings.append((indices[name], encode_state(variables[indices[name]], value)))
    return " ".join(str(number) for number in (len(findings), *(part for finding in findings for part in finding)))


def encode_state(variable: Variable, value: Any) -> int:
    if not isinstance(as_plain(value), str | int | float):
        raise FormatError(f"a UAI evidence file holds states; {variable.name!r} has the likelihood {value!r}")
    return variable.code(value)
