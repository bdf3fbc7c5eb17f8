"""Asking a model: engines that turn a model and evidence into beliefs."""
