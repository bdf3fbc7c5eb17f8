"""The table of conjugate pairs; a line here, and every law of conjugacy tests it."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy import beta, beta_binomial, dirichlet, gamma, gaussian, inverse_gamma, joint, wishart
from juncture.families.conjugacy.pair import Pair
from juncture.families.family import Family

PAIRS: tuple[Pair, ...] = (
    *beta.PAIRS, *beta_binomial.PAIRS, *dirichlet.PAIRS, *gamma.PAIRS, *inverse_gamma.PAIRS,
    *gaussian.PAIRS, *joint.PAIRS, *wishart.PAIRS,
)  # fmt: skip


def find_pair(prior: type[Family], likelihood: type[Family], known: Iterable[str]) -> Pair:
    """The pair for these statistics, or a sentence about which there are."""
    if not (isinstance(likelihood, type) and issubclass(likelihood, Family)):
        raise InvalidData(f"a prior predicts a family, such as Poisson; got {likelihood!r}")
    have = frozenset(known)
    for pair in pairs_of(prior):
        if pair.is_for(likelihood, have):
            return pair
    has_name = any(pair.likelihood is likelihood for pair in pairs_of(prior))  # then what is known is amiss
    with_known = f" with {' and '.join(sorted(have)) or 'nothing'} known" if have or has_name else ""
    raise Unsupported(
        f"{prior.__name__} is no conjugate prior for {likelihood.__name__}{with_known}; it is one for {_told(prior)}"
    )


def pair_to_predict(prior: type[Family], family: type[Family] | None, known: Iterable[str]) -> Pair:
    """The pair that a prior predicts with when it has seen no statistics."""
    if family is not None:
        return find_pair(prior, family, known)
    of_prior = pairs_of(prior)
    usual = [pair for pair in of_prior if pair.is_usual or len(of_prior) == 1]
    if not usual:
        raise InvalidData(f"this {prior.__name__} has seen no data; say which family it shall predict: {_told(prior)}")
    return find_pair(prior, usual[0].likelihood, known)


def pairs_of(prior: type[Family]) -> tuple[Pair, ...]:
    return tuple(pair for pair in PAIRS if pair.prior is prior)


def _told(prior: type[Family]) -> str:
    return ", ".join(map(str, pairs_of(prior))) or "nothing"
