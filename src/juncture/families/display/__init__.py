"""Pictures of densities."""
