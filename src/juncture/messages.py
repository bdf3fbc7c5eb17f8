"""Messages by hand: sum-product and max-product, semirings, elimination, marginal polytopes; `jt.messages`."""

from juncture.names import face

face(__name__)
