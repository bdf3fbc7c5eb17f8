"""Neural models: autoencoders, Helmholtz machines, deep belief networks, deep Boltzmann machines; `jt.neural`."""

from juncture.names import face

face(__name__)
