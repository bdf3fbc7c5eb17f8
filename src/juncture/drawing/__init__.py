"""Pictures of graphs: nodes, edges and groups become SVG text; knows no model.

diagram (what to draw) → boxes and text (how large) → layout (where) → svg, with nodes, marks and palette.
"""

from juncture.drawing.diagram import Diagram, Edge, Group, Node, place_in_two_rows
from juncture.drawing.layout.arrange import Layout, arrange
from juncture.drawing.svg import to_svg

__all__ = ["Diagram", "Edge", "Group", "Layout", "Node", "arrange", "place_in_two_rows", "to_svg"]
