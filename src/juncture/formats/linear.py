"""Linear expressions with Gaussian noise in files: the numbers in `2.5 + 4.2 * C` and `2*A + Normal(1, 0.5)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_LENGTH = 10**5  # characters of one expression
TOKEN = re.compile(
    r"\s*(?:([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|([A-Za-z_]\w*)|([-+*/(),]))"
)


@dataclass
class Linear:
    """constant + Σ coefficient · name + noise; each spread is what the file gives, a variance or a deviation."""

    constant: float = 0.0
    coefficients: dict[str, float] = field(default_factory=dict)
    spreads: list[float] = field(default_factory=list)


def parse_linear(text: str) -> Linear:
    """A sum of numbers, products of numbers and one name, and `Normal(mean, spread)`; a ValueError says what is not."""
    tokens = list(tokenize(text))
    linear, at = Linear(), 0
    while at < len(tokens):
        at, sign = take_sign(tokens, at, first=at == 0)
        at = take_term(tokens, at, sign, linear)
    if not tokens:
        raise ValueError("it is empty")
    return linear


def tokenize(text: str) -> Iterator[str]:
    text = text.strip()
    if len(text) > MAX_LENGTH:
        raise ValueError(f"it has more than {MAX_LENGTH:,} characters")
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at : at + 20]!r} is not known in it")
        yield match[0].strip()
        at = match.end()


def take_sign(tokens: list[str], at: int, *, first: bool) -> tuple[int, float]:
    """The signs before a term; between two terms there is at least one."""
    start, sign = at, 1.0
    while at < len(tokens) and tokens[at] in {"+", "-"}:
        sign, at = -sign if tokens[at] == "-" else sign, at + 1
    if at == start and not first:
        raise ValueError(f"'+' or '-' was expected, not {tokens[at]!r}")
    return at, sign


def take_term(tokens: list[str], at: int, factor: float, linear: Linear) -> int:
    """Add one term to the sum; the position after it."""
    if tokens[at : at + 2] in (["Normal", "("], ["normal", "("]):
        return take_normal(tokens, at + 2, factor, linear)
    name, divide = None, False
    while True:
        at, value, found = take_factor(tokens, at)
        if found and (name or divide):
            raise ValueError(f"{found!r} is multiplied or divided by another variable, which is not linear")
        name = name or found
        if divide and value == 0:
            raise ValueError("it divides by 0")
        factor = factor / value if divide else factor * value
        if at == len(tokens) or tokens[at] not in {"*", "/"}:
            break
        divide, at = tokens[at] == "/", at + 1
    if name:
        linear.coefficients[name] = linear.coefficients.get(name, 0.0) + factor
    else:
        linear.constant += factor
    return at


def take_factor(tokens: list[str], at: int) -> tuple[int, float, str | None]:
    """A number, which may have a sign, or a name."""
    sign = -1.0 if tokens[at : at + 1] == ["-"] else 1.0
    at += tokens[at : at + 1] in (["-"], ["+"])
    if at == len(tokens):
        raise ValueError("it ends where a number or a name was expected")
    token = tokens[at]
    if token[0].isdigit() or token[0] == ".":
        return at + 1, sign * float(token), None
    if token in {"*", "/", "(", ")", ","} or tokens[at + 1 : at + 2] == ["("]:
        raise ValueError(f"{token!r} is not known in it; sums of number * name and one Normal(mean, deviation) are")
    return at + 1, sign, token


def take_normal(tokens: list[str], at: int, sign: float, linear: Linear) -> int:
    """`mean, spread )` of two numbers; the sign does not matter to the noise."""
    at, mean, name = take_factor(tokens, at)
    comma, at = tokens[at : at + 1], at + 1
    at, spread, second = take_factor(tokens, at)
    if name or second or comma != [","] or tokens[at : at + 1] != [")"]:
        raise ValueError("a Normal in it must have two numbers")
    linear.constant += sign * mean
    linear.spreads.append(spread)
    return at + 1
