"""The networks that ship with the package, as JSON documents in networks/."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from juncture.errors import FormatError, hint

DESCRIPTIONS = {
    "asia": "Smoking, a visit to Asia and three diseases of the chest, with the numbers of Lauritzen and Spiegelhalter"
    " (1988) as the Bayesian network repository has them.",
    "cancer": "Pollution, smoking and lung cancer, with the numbers of Korb and Nicholson (2010) as the Bayesian"
    " network repository has them.",
    "earthquake": "A burglar alarm that an earthquake may also set off, with the numbers of Korb and Nicholson (2010)"
    " as the Bayesian network repository has them.",
    "burglary": "A burglar alarm that an earthquake may also set off, with the numbers of Russell and Norvig's"
    " textbook, by which both are ten times rarer than in earthquake.",
    "survey": "How people choose a means of transport, with the numbers of Scutari and Denis (2014) as the Bayesian"
    " network repository has them.",
    "alarm": "Monitoring of a patient under anaesthesia (37 variables), with the numbers of Beinlich and others (1989)"
    " as the Bayesian network repository has them, except that six rows which sum to 0.9999999 there sum to 1.",
    "fuel": "A car's battery B, fuel tank F and fuel gauge G, where a flat battery explains an empty reading away, with"
    " the numbers of Bishop (2006, section 8.2).",
    "genes": "Two genes A and B that activate a third, C, with the numbers of a machine learning course at Trento.",
    "weather": "A chain from the weather X1 to X2 and X3 whose most probable states are found by backtracking, with the"
    " numbers of a machine learning course at Trento.",
    "sprinkler": "Wet grass under clouds, a sprinkler and rain, with the numbers of Russell and Norvig's textbook as"
    " Murphy (1998) gives them.",
    "student": "A course's difficulty D, a student's intelligence I, grade G from g1, the best, to g3, test score S and"
    " letter L, with the numbers of Koller and Friedman (2009, figure 3.4).",
    "seven": "Seven binary variables x1 to x7 in the graph of Bishop's (2006) figure 8.2, with numbers chosen for"
    " illustration.",
    "oil": "Whether to pay for a seismic test and whether to drill for oil: the decision network of the oil wildcatter,"
    " with the numbers of Raiffa (1968), in thousands of dollars.",
}


def example(name: str) -> Any:
    """A network that ships with the package.

    Parameters
    ----------
    name
        One of `examples()`.

    Returns
    -------
    BayesianNetwork or DecisionNetwork

    Examples
    --------
    >>> example("fuel").variables.names
    ('B', 'F', 'G')
    """
    if not isinstance(name, str) or name not in DESCRIPTIONS:
        raise FormatError(f"there is no bundled network {name!r}; {hint(name, DESCRIPTIONS)}")
    from juncture.formats.json import read_json
    from juncture.formats.row_repair import RowRepair

    return read_json(example_bytes(name), RowRepair())


def example_bytes(name: str) -> bytes:
    """The JSON document of a bundled network."""
    return files("juncture.formats").joinpath("networks", f"{name}.json").read_bytes()


def examples() -> dict[str, str]:
    """The names of the bundled networks, each with a description and the source of its numbers.

    Returns
    -------
    dict
        Name → description.

    Examples
    --------
    >>> "asia" in examples()
    True
    """
    return dict(DESCRIPTIONS)
