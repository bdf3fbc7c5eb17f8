"""Independent sources as plain data: {"loadings": [[…]], "mean": […], "sources": [{"kind": "Laplace", …}, …]}."""

from __future__ import annotations

from juncture.base.documents.codec import Record, Union, list_of
from juncture.base.documents.kinds import register_kind
from juncture.components.document import EMISSIONS
from juncture.components.mixture import Mixture
from juncture.families.document import FAMILY
from juncture.latent.independent_components.model import IndependentComponents, IndependentFactors

SOURCE = Union(
    "JSON cannot hold {kind} as a source: known are {kinds}",
    *(FAMILY.records[name] for name in ("Gaussian", "Laplace", "StudentT")),
    Record(Mixture, components=EMISSIONS),
)

register_kind(*(Record(kind, sources=list_of(SOURCE)) for kind in (IndependentComponents, IndependentFactors)))
