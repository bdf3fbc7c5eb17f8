"""`python -m juncture`: the command line."""

from juncture.cli.main import run

run()
