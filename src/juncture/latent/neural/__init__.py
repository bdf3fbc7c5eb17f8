"""Neural and amortised models: autoencoders, variational autoencoders, Helmholtz machines."""
