"""Images as Markov random fields: noise, denoising and segmentation; `jt.images`."""

from juncture.names import face

face(__name__)
