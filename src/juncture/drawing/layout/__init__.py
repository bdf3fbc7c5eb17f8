"""Layered layout of a diagram, in the steps of Sugiyama: one file a step, each a pure function of the last.

arrange      parts of the diagram, packed on shelves
piece        one part: all the steps below
orientation  which end of an edge is the upper one
ranking      the layer of each node (network simplex); stacking: wide fans of leaves in several layers
layers       bends for long edges, borders for groups; nesting: which members stay together
ordering     left to right within the layers, few crossings
placement    x coordinates, finished by alignment;  bands, frames: y coordinates
curves       where edges attach and how they run;  splines: smooth curves through gates
"""
