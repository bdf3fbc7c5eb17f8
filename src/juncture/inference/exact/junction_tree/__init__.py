"""The junction tree: plan, packed tables, message passing, answers."""
