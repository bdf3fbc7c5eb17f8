"""`ConjugatePrior`: a family that, as a prior, stays in the family when statistics of the right kind come in."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.conjugacy.pair import Pair, find_pair, pair_to_predict
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.known import Known, check_known, known_of_members
from juncture.families.statistics.statistics import Statistics


class ConjugatePrior(Family):
    """A prior for the parameters of other families: its `pairs` say which, and how.

    A posterior remembers whose statistics it has seen, for `predictive`; that is no part of equality.
    """

    pairs: ClassVar[tuple[Pair, ...]] = ()
    _seen: tuple[type[Family], dict[str, np.ndarray]] | None = None

    def posterior(self, statistics: Statistics) -> Self:
        """The prior after the data: the same family with new parameters. The data may come in any number of parts."""
        pair = self._pair_for(statistics)
        updated: Self = pair.update(self, statistics)
        updated._set(_seen=(statistics.family, dict(statistics.known)))
        return updated

    def log_evidence(self, statistics: Statistics) -> Real:
        """log p(data) = log ∫ p(data | θ) p(θ) dθ."""
        return plain(self._pair_for(statistics).log_evidence(self, statistics))

    def predictive(self, family: type[Family] | None = None, **known: Any) -> Family:
        """The distribution of one more observation, the parameter integrated out.

        Parameters
        ----------
        family
            The family of the observation; by default the one whose statistics this posterior has seen.
        known
            The parameters of that family that are not integrated out, such as the trials of a Binomial.

        Returns
        -------
        Family
            A member of a family where the integral has a closed form with a name, else a `Compound`.
        """
        pair, held = self._pair_to_predict(family, known)
        return pair.predictive(self, held)

    def likelihood_at(self, point: Any, family: type[Family] | None = None, **known: Any) -> Any:
        """The member of the family with the parameter `point`."""
        pair, held = self._pair_to_predict(family, known)
        return pair.at(point, held)

    def likelihood_at_mode(self) -> Any:
        """The maximum a posteriori member of the family whose statistics were seen."""
        return self.likelihood_at(self.mode)

    def likelihood_at_mean(self) -> Any:
        """The member of the family with the posterior mean as parameter."""
        return self.likelihood_at(self._mean_point())

    def equivalent_sample_size(self, family: type[Family] | None = None, **known: Any) -> Real:
        """How many observations the prior is worth, for the family seen or given."""
        pair, held = self._pair_to_predict(family, known)
        return plain(pair.sample_size(self, held))

    def _inside(self) -> Any:
        """A parameter value where prior and posterior have a finite density."""
        return self.mean

    def _mean_point(self) -> Any:
        """The mean, as a parameter value that `likelihood_at` takes."""
        return self.mean

    def _pair_for(self, statistics: Statistics) -> Pair:
        if not isinstance(statistics, Statistics):
            raise InvalidData(f"a prior takes statistics, such as Poisson.statistics(data); got {statistics!r}")
        return find_pair(type(self), statistics.family, statistics.known)

    def _pair_to_predict(self, family: type[Family] | None, known: dict[str, Any]) -> tuple[Pair, Known]:
        if family is None and self._seen is not None:
            seen, remembered = self._seen
            return find_pair(type(self), seen, remembered | known), remembered | check_known(seen, known)
        pair = pair_to_predict(type(self), family, known)
        return pair, check_known(pair.likelihood, known)

    def __getitem__(self, index: Any) -> Self:
        """Members of the batch; they remember what it has seen."""
        member = super().__getitem__(index)
        if self._seen is not None:
            family, known = self._seen
            member._set(_seen=(family, known_of_members(family, known, self.batch_shape, index)))
        return member

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_seen": self._seen}
