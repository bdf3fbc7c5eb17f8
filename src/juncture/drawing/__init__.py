"""Pictures: graphs, states on a circle, lanes of steps, curves, shares and tables become SVG text; knows no model.

Graphs: diagram (what to draw) → boxes and text (how large) → layout (where) → svg, with nodes, marks and palette. The
others have a file each: states, lattice, chart, courses, shares, grids. images makes PNG and PDF of the SVG.
"""

from juncture.drawing.diagram import Diagram, Edge, Group, Node, place_in_two_rows
from juncture.drawing.layout.arrange import Layout, arrange
from juncture.drawing.svg import to_svg

__all__ = ["Diagram", "Edge", "Group", "Layout", "Node", "arrange", "place_in_two_rows", "to_svg"]
