"""Engines that draw rows."""
