"""Pictures of values with matplotlib, which the extra `plot` installs; `jt.plots`."""

from juncture.names import face

face(__name__)
