"""The table of conjugate pairs; a line here, and every law of conjugacy tests it."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy import beta
from juncture.families.conjugacy.pair import Pair
from juncture.families.family import Family

PAIRS: tuple[Pair, ...] = (*beta.PAIRS,)


def find_pair(prior: type[Family], likelihood: type[Family], known: Iterable[str]) -> Pair:
    """The pair for these statistics, or a sentence about which there are."""
    have = frozenset(known)
    for pair in pairs_of(prior):
        if pair.likelihood is likelihood and pair.known == have:
            return pair
    raise Unsupported(
        f"{prior.__name__} is no conjugate prior for {_told(likelihood, have)}; it is one for "
        + (", ".join(_told(pair.likelihood, pair.known) for pair in pairs_of(prior)) or "nothing")
    )


def pair_to_predict(prior: type[Family], family: type[Family] | None, known: Iterable[str]) -> Pair:
    """The pair that a prior predicts with when it has seen no statistics."""
    if family is not None:
        return find_pair(prior, family, known)
    usual = [pair for pair in pairs_of(prior) if not pair.known]
    if prior.__name__ in {"Beta", "Dirichlet"} or len(pairs_of(prior)) == 1:
        return usual[0] if usual else pairs_of(prior)[0]
    names = ", ".join(_told(pair.likelihood, pair.known) for pair in pairs_of(prior))
    raise InvalidData(f"this {prior.__name__} has seen no data; say what it shall predict: one of {names}")


def pairs_of(prior: type[Family]) -> tuple[Pair, ...]:
    return tuple(pair for pair in PAIRS if pair.prior is prior)


def _told(likelihood: type[Family], known: frozenset[str]) -> str:
    return f"{likelihood.__name__} with {' and '.join(sorted(known))} known" if known else likelihood.__name__
