"""Random damage to files: the same generator state gives the same damage."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

TOKEN = re.compile(rb"[A-Za-z_]+|[0-9.eE+-]+|\s+|.", re.DOTALL)
NUMBER = re.compile(rb"[0-9][0-9.eE+-]*")
EXTREME = [
    *(b"0", b"1", b"2", b"-1", b"0.0", b"1.0", b"0.5", b"1e-320", b"5e-324", b"1e308", b"1e309", b"-1e309", b"1e-400"),
    *(b"nan", b"inf", b"-inf", b"-0.0", b"0.99999", b"1.0000000001", b"3", b"7", b"64", b"65", b"255", b"256", b"1000"),
    *(b"2147483648", b"4294967296", b"9223372036854775808", b"1000000000000", b"1e12", b"9" * 30, b"9" * 5000, b"00"),
    *(b"1_0", b"0x10", b"1.", b".5", b".", b"-", b"e", b"1e", b"", b"\xd9\xa3"),
]
PIECES = [
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
        b")",
        b"<",
        b">",
        b'"',
        b"'",
        b"\\",
        b"/",
        b"//",
        b"/*",
        b"*/",
        b"%",
        b"#",
        b"&",
        b";",
    ),
    *(
        b",",
        b":",
        b"=",
        b"|",
        b"!",
        b"\n",
        b"\r",
        b"\t",
        b" ",
        b"\0",
        b"\x85",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf",
    ),
    *(b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&amp;", b"&#0;", b"&#13;", b"&x;", b"</", b"/>", b"\\u0000", b"\\ud800"),
    *(
        b"\\n",
        b"\\000",
        b"null",
        b"true",
        b"[]",
        b"{}",
        b'""',
        b"table",
        b"default",
        b"property",
        b"\nc ",
        b"\xff",
        b"\xed\xa0\x80",
    ),
    *(b"{" * 100, b"[" * 100, b"(" * 100, b"<a>" * 100, b"9" * 1000, b"a" * 1000, b" " * 1000),
]


def mutated(random: Random, data: bytes, others: list[bytes]) -> bytes:
    """One to a few changes; `others` lends pieces."""
    while True:
        data = random.choice(MUTATIONS)(random, data, random.choice(others))
        if random.random() < 0.5:
            return data


def flip(random: Random, data: bytes, _other: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return (
        data[:place] + bytes(byte ^ (1 << random.randrange(8)) for byte in data[place : place + 1]) + data[place + 1 :]
    )


def span(random: Random, data: bytes) -> tuple[int, int]:
    """The ends of a piece, mostly a short one."""
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + int(random.expovariate(0.05)))


def delete(random: Random, data: bytes, _other: bytes) -> bytes:
    start, end = span(random, data)
    return data[:start] + data[end:]


def truncate(random: Random, data: bytes, _other: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def duplicate(random: Random, data: bytes, _other: bytes) -> bytes:
    start, end = span(random, data)
    return data[:end] + data[start:end] * random.choice([1, 1, 1, 2, 50]) + data[end:]


def splice(random: Random, data: bytes, other: bytes) -> bytes:
    """A piece of another file in place of a piece of this one."""
    (start, end), (first, last) = span(random, data), span(random, other)
    return data[:start] + other[first:last] + data[end:]


def insert(random: Random, data: bytes, _other: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(PIECES) + data[place:]


def replace_number(random: Random, data: bytes, _other: bytes) -> bytes:
    found = list(NUMBER.finditer(data))
    if not found:
        return data
    start, end = random.choice(found).span()
    return data[:start] + random.choice(EXTREME) + data[end:]


def swap_tokens(random: Random, data: bytes, _other: bytes) -> bytes:
    tokens = TOKEN.findall(data)
    return exchanged(random, tokens)


def swap_lines(random: Random, data: bytes, _other: bytes) -> bytes:
    return exchanged(random, data.splitlines(keepends=True))


def exchanged(random: Random, parts: list[bytes]) -> bytes:
    """Two parts change places, or one takes the place of the other."""
    if parts:
        one, two = random.randrange(len(parts)), random.randrange(len(parts))
        parts[one], parts[two] = parts[two], random.choice([parts[one], parts[two]])
    return b"".join(parts)


MUTATIONS: list[Callable[[Random, bytes, bytes], bytes]] = [
    *(flip, delete, truncate, duplicate, splice, insert, replace_number, swap_tokens, swap_lines),
    *(replace_number, swap_tokens, insert),  # which more often leave a file that is worth reading on
]
