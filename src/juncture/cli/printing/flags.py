"""Messages of the library in the words of the command line: `method='ges'` becomes `--method ges`.

What a message proposes to somebody who writes Python, a command proposes by its options, or by another command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

PYTHON_CODE = r"jt\.\w+(?:\([^()]*\)|\.\w+)*"

# what a message says to somebody who writes Python → what it says to somebody who writes commands
PHRASES = (
    (rf"{PYTHON_CODE},? or (?=juncture |--)", ""),
    (rf"{PYTHON_CODE} ([^()]*) \(on the command line: (--[\w-]+)\)", r"\2 \1"),
    (r"(--[\w-]+) on the command line", r"\1"),
    # columns and rows
    (
        r"column '([^']+)'(.*); leave it out, or declare it in `variables`",
        r"column '\1'\2; leave it out with --ignore \1",
    ),
    (r"no row has a value of '([^']+)': drop it; or declare .*", r"no row has a value of '\1': use --ignore \1"),
    (
        r" \(a variable that is never observed goes into latent=\['([^']*)'\], for a graph into variables=\[…\]\)",
        r" (--latent \1 is for a variable that is never observed)",
    ),
    # learning
    (
        r"give more rows, drop a parent, or give a prior, (?:prior=\{'.*?': )?(?:a )?jt\.NormalInverseGamma"
        r"(?:\([^()]*\)\})?",
        "give more rows, or fewer parents (juncture learn --max-parents)",
    ),
    (r"give a prior, a jt\.NormalInverseGamma, (?:to change this|or on_unseen=\"uniform\")", "give more rows"),
    (r"give a prior(?:, or on_unseen=\"uniform\"| to change this)", "give a --prior"),
    (r"cannot be learned; keep it as it is with fixed=\[[^\]]*\]", "cannot be learned by this command"),
    (r"(with|as) jt\.Discretizer(?: does)?", r"\1 juncture learn --bins"),
    (r"\bset max_parents\b", "set --max-parents"),
    (r"\bmax_parents=(\d+)", r"--max-parents \1"),
    (r"as MixturePrior\(components=…\), ", ""),
    (r"; of .{1,200}? it is [A-Z]\w*\(.*\): take another criterion, or give one", ": take another --criterion"),
    # engines
    (r"(?:infer|choose|infer again) (?:by|with)?\s?another method", "take another --method"),
    (r"(?:give|try) [^:;]*?(?:starts|blocks|draws)=[^:;]*?, or (?=take another --method)", ""),
    (r"ask for more draws= and warmup=", "give them a longer --budget"),
    (r"more steps, or damping=0\.5, may help", "another --method may help"),
    (r"try damping=0\.5, or (?=method=)", "take "),
    (r"raise max_tries=, or (?=use method=)", ""),
    (r"leave\s+targets(?:=)? out(, or)?", r"name no variables\1"),
    (r"infer gives the means, and targets= a joint without it", "juncture query gives the means"),
    (r"raise it, or plan ahead with jt\.compile", "give a longer --budget"),
    (r", or raise the limit with Enumeration\([^()]*\)", ""),
    (r",? or raise memory_limit", ""),
    (r": raise memory_limit|; raise memory_limit", ""),
    (r"ask for them one by one, or (?=take another --method)", "leave out --joint, or "),
    (r"draw rows by jt\.sample and look at these", "leave out --joint, or draw rows with juncture sample"),
    (
        r"jt\.sample draws rows without evidence, and log_prob takes full rows",
        "give a --method such as likelihood-weighting, or draw rows with juncture sample",
    ),
    (r"\bdo takes a Bayesian network", "--do takes a Bayesian network"),
    (r"jt\.(fit|sample|draw)\b(?!\()", r"juncture \1"),
)


COMPILED = tuple((re.compile(pattern), words) for pattern, words in PHRASES)


def use_flags(message: str, options: Iterable[str]) -> str:
    """The message with the options of the command as flags, where it names them as arguments of Python.

    >>> use_flags("take score='bge', or add it to `missing`", ["score", "missing"])
    'take --score bge, or add it to --missing'
    """
    for pattern, words in COMPILED:
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
