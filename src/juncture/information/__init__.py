"""Information theory: entropies, divergences, projections onto families, maximum entropy; `jt.information`."""

from juncture.names import face

face(__name__)
