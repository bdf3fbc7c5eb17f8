from juncture.inference.images import denoising_field as denoising_field
from juncture.inference.images import flip_noise as flip_noise
from juncture.inference.images import flip_strength as flip_strength
from juncture.inference.images import segment as segment
