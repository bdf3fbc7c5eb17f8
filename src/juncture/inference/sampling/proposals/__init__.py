"""Proposals of importance sampling: where draws come from."""
