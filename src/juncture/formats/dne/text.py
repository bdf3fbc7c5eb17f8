"""The DNE text of a network."""

from __future__ import annotations

from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.factors.deterministic import Deterministic
from juncture.formats.dne.states import STATES_FIELD
from juncture.formats.losses import state_texts, to_table
from juncture.formats.net.names import make_identifiers, quote
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

NAME_FIELD = "JUNCTURE_name"
KEYWORDS = {"bnet", "node", "visual", "TRUE", "FALSE"}
LONGEST = 30  # characters of a name
ROW_END = ",\n\t\t "


def network_text(network: BayesianNetwork) -> str:
    if not network.conditionals:
        raise FormatError("DNE cannot hold a network without variables; write it as .json")
    names = make_identifiers(network.variables.names, KEYWORDS, prefix="x", longest=LONGEST)
    parts = [part if isinstance(part, Deterministic) else to_table(part, "DNE") for part in network.conditionals]
    return "// ~->[DNET-1]->~\n\nbnet juncture {\n" + "".join(node_text(part, names) for part in parts) + "};\n"


def node_text(part: Conditional | Deterministic, names: dict[str, str]) -> str:
    name, child = names[part.child.name], part.child
    parents = ", ".join(names[parent.name] for parent in part.parents)
    labels = state_texts(child, "DNE")
    states = make_identifiers(labels, (), prefix="s", longest=LONGEST)
    lines = [
        "kind = NATURE",
        "discrete = TRUE",
        f"chance = {'DETERMIN' if isinstance(part, Deterministic) else 'CHANCE'}",
        f"states = ({', '.join(states.values())})",
        f"parents = ({parents})",
        table_text(part, list(states.values())),
        *title_lines(child, labels, name, list(states.values())),
    ]
    return f"\nnode {name} {{\n" + "".join(f"\t{line};\n" for line in lines) + "\t};\n"


def table_text(part: Conditional | Deterministic, states: list[str]) -> str:
    if isinstance(part, Deterministic):
        return f"functable =\n\t\t({ROW_END.join(states[code] for code in part.codes.ravel().tolist())})"
    rows = part.values.reshape(-1, len(states)).tolist()
    return f"probs =\n\t\t({ROW_END.join(', '.join(map(repr, row)) for row in rows)})"


def title_lines(variable: Variable, labels: list[str], name: str, states: list[str]) -> list[str]:
    """Titles, which Netica shows, and the true name and labels, where identifiers stand for them."""
    lines = []
    if name != variable.name:
        lines += [f"{field} = {quote(variable.name)}" for field in ("title", NAME_FIELD)]
    if states != labels:
        quoted = ", ".join(quote(label) for label in labels)
        lines += [f"{field} = ({quoted})" for field in ("statetitles", STATES_FIELD)]
    return lines
