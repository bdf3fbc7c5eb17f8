"""UAI files for the tests of the format."""

from __future__ import annotations

from juncture.formats.row_repair import RowRepair
from juncture.formats.uai import read_uai

BAYES = """BAYES
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""
MARKOV = (
    "MARKOV\n3\n2 2 3\n2\n2 0 1\n3 0 1 2\n\n4\n4.000 2.400\n1.000 0.000\n\n12\n" + "2.25 3.25 3.75 0.0 0.0 10.0 " * 2
)


def read(text):
    """The model in a UAI text whose rows need no repair."""
    rows = RowRepair()
    model = read_uai(text if isinstance(text, bytes) else text.encode(), rows)
    assert rows.count == 0
    return model
