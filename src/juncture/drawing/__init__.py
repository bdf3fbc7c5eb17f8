"""Pictures: graphs, states on a circle, lanes of steps, curves, shares and tables become SVG text; knows no model.

Graphs: diagram (what to draw) → boxes and text (how large) → layout (where) → svg, with marks. The others have a file
each: states, lattice, chart, courses, shares, grids, rasters. images makes PNG and PDF of the SVG.
"""
