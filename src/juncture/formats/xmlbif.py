"""XMLBIF 0.3, the XML Bayesian network interchange format.

Kept: the order of variables, their names and states (as text), every double bit for bit. Properties are ignored on
reading, except `juncture_cuts = 18.0 65.0` of a variable, its cuts. A variable of a kind other than `nature` (a
decision, a utility) is refused. Files of the earlier versions are read too: VALUE for OUTCOME, PROBABILITY for
DEFINITION, names of elements in any case. In a PROBABILITY of a file without VERSION, as JavaBayes wrote them, the
child's states vary slowest, as in BIF. No document type is written, since pyAgrum does not read past one. White space
around a name is not part of it, unless the element says xml:space="preserve".
"""

from __future__ import annotations

from juncture.factors.conditional import Conditional
from juncture.formats.cut_points import find_cuts, property_text
from juncture.formats.files import warn_losses
from juncture.formats.losses import as_tables, find_losses, state_texts
from juncture.formats.row_repair import RowRepair
from juncture.formats.xml import (
    Element,
    format_element,
    numbers_text,
    read_network,
    read_parents,
    read_table,
    read_variable,
    read_xml,
    shorten,
)
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.variables import Variable


def read_xmlbif(data: bytes, rows: RowRepair) -> BayesianNetwork:
    root = read_xml(data, "bif")
    network = root.only("network")
    network.check_children({"name", "property", "variable", "definition", "probability"})
    variables = read_variables(network)
    conditionals: dict[str, Conditional] = {}
    for element in network.all("definition", "probability"):
        child_slowest = element.name == "probability" and "version" not in root.attributes
        conditional = read_conditional(element, variables, rows, child_slowest=child_slowest)
        if conditional.child.name in conditionals:
            element.fail(f"is the second one for {shorten(conditional.child.name)}; each variable has one")
        conditionals[conditional.child.name] = conditional
    for name in variables:
        if name not in conditionals:
            network.fail(f"has no <definition> for the variable {shorten(name)}")
    return read_network([conditionals[name] for name in variables], network)


def read_variables(network: Element) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    for element in network.all("variable"):
        element.check_children({"name", "type", "outcome", "value", "property"})
        name = element.only("name").content
        check_kind(element, name)
        if name in variables:
            element.fail(f"declares {shorten(name)} a second time")
        states = [outcome.content for outcome in element.all("outcome", "value")]
        if not states:
            element.fail(f"gives {shorten(name)} no <outcome>; it must have at least one")
        cuts = find_cuts(item.text for item in element.all("property"))
        variables[name] = read_variable(name, states, element, cuts)
    return variables


def check_kind(element: Element, name: str) -> None:
    """`nature`, as an attribute, or `discrete`, as the earliest version has it in an element."""
    kinds = [element.attributes.get("type", "nature"), *(kind.content for kind in element.all("type"))]
    for kind in kinds:
        if kind.lower() not in {"nature", "discrete"}:
            element.fail(f"{shorten(name)} is of the kind {shorten(kind)}; only chance variables (nature) are read")


def read_conditional(
    element: Element, variables: dict[str, Variable], rows: RowRepair, *, child_slowest: bool
) -> Conditional:
    element.check_children({"for", "given", "table", "property"})
    name = element.only("for").content
    if name not in variables:
        element.fail(f"is for {shorten(name)}, which no <variable> declares")
    parents = read_parents(name, [given.content for given in element.all("given")], variables, element)
    return read_table(variables[name], parents, element.only("table"), rows, child_slowest=child_slowest)


def write_xmlbif(model: Network) -> str:
    tables = as_tables(model, "XMLBIF")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        "<NAME>network</NAME>",
    ]
    for table in tables:
        lines += variable_lines(table.child)
    for table in tables:
        lines += definition_lines(table)
    warn_losses(find_losses(model), "XMLBIF")
    return "\n".join([*lines, "</NETWORK>", "</BIF>", ""])


def variable_lines(variable: Variable) -> list[str]:
    outcomes = [f"  {format_element('OUTCOME', text, variable.name)}" for text in state_texts(variable, "XMLBIF")]
    name = f"  {format_element('NAME', variable.name, variable.name)}"
    cuts = property_text(variable)
    kept = [] if cuts is None else [f"  {format_element('PROPERTY', cuts, variable.name)}"]
    return ['<VARIABLE TYPE="nature">', name, *outcomes, *kept, "</VARIABLE>"]


def definition_lines(table: Conditional) -> list[str]:
    name = table.child.name
    given = [f"  {format_element('GIVEN', parent, name)}" for parent in table.parents.names]
    numbers = numbers_text(table.values, "\n    ")
    return [
        "<DEFINITION>",
        f"  {format_element('FOR', name, name)}",
        *given,
        f"  <TABLE>{numbers}</TABLE>",
        "</DEFINITION>",
    ]
