"""Messages of the library in the words of the command line: `method='ges'` becomes `--method ges`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

PYTHON_CODE = r"jt\.\w+(?:\([^()]*\)|\.\w+)*"
# what a message says to somebody who writes Python, and to somebody who writes commands
PHRASES = (
    (re.compile(rf"{PYTHON_CODE},? or (?=juncture |--)"), ""),
    (re.compile(rf"{PYTHON_CODE} ([^()]*) \(on the command line: (--[\w-]+)\)"), r"\2 \1"),
    (re.compile(r"(--[\w-]+) on the command line"), r"\1"),
    (
        re.compile(r"column '([^']+)'(.*); leave it out, or declare it in `variables`"),
        r"column '\1'\2; leave it out with --ignore \1",
    ),
    (
        re.compile(
            r"give more rows, drop a parent, or give a prior, prior=\{'.*?': jt\.NormalInverseGamma\([^()]*\)\}"
        ),
        "give more rows, or fewer parents (juncture learn --max-parents)",
    ),
)


def use_flags(message: str, options: Iterable[str]) -> str:
    """The message with the options of the command as flags, where it names them as arguments of Python.

    >>> use_flags("take score='bge', or add it to `missing`", ["score", "missing"])
    'take --score bge, or add it to --missing'
    """
    for pattern, words in PHRASES:
        message = pattern.sub(words, message)
    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    if not names:
        return message
    message = re.sub(rf"(?<![\w.-])({names})=(['\"])(.*?)\2", lambda found: as_flag(found[1], found[3]), message)
    message = re.sub(rf"(?<![\w.-])({names})= ", lambda found: f"{as_flag(found[1])} ", message)
    return re.sub(rf"`({names})`", lambda found: as_flag(found[1]), message)


def as_flag(name: str, value: str | None = None) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag} {shlex.quote(value)}"
