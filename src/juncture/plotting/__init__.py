"""Pictures of values with matplotlib, which the extra `plot` installs."""
