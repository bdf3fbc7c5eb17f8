"""How much memory there is to use, as engines ask for it."""

from juncture.memory import default_memory_limit, told_bytes

__all__ = ["default_memory_limit", "told_bytes"]
