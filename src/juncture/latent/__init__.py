"""Models with latent variables, each kind a folder that holds the whole of it."""
