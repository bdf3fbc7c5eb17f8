"""Nodes without edges stand apart; the ends of courses lie inside their frames; forecasts go on from the sequence."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

import juncture as jt
from juncture.drawing.courses import MARGIN, RADIUS, WIDTH, Course, Panel, course_svg
from juncture.drawing.diagram import Diagram, Edge, Node
from juncture.drawing.layout.arrange import arrange

WALK = jt.LinearGaussianStateSpace(1.0, 1.0, 0.1, 1.0, [0.0], [[1.0]])


def test_nodes_without_edges_have_rows_of_their_own():
    edges = [Edge("smoker", "glucose"), Edge("glucose", "age"), Edge("age", "income"), Edge("glucose", "disease")]
    names = ["region", "smoker", "glucose", "age", "children", "income", "disease"]
    layout = arrange(Diagram([Node(name) for name in names], edges))
    boxes = dict(zip(names, layout.boxes, strict=True))
    layers = sorted({box.top for name, box in boxes.items() if name not in {"region", "children"}})
    widest = max(lower - upper for upper, lower in pairwise(layers))
    assert boxes["region"].top == boxes["children"].top > layers[-1] + widest
    assert boxes["region"].right < boxes["children"].left
    assert layout.width <= max(box.right for box in boxes.values()) + 0.01


def test_points_at_the_first_and_the_last_step_lie_inside_the_frame():
    numbers = np.arange(5.0)
    drawn = course_svg(Course((Panel("level", numbers, points=(numbers,)),)))
    sides = [float(x) for x in re.findall(r'<rect x="([\d.]+)"[^>]*class="point"', drawn)]
    left = min(float(x) for x in re.findall(r'points="([\d.]+),', drawn))
    assert len(sides) == 5
    assert left < min(sides)
    assert max(sides) + 2 * RADIUS < WIDTH - MARGIN


def test_the_steps_of_a_forecast_go_on_from_the_sequence():
    beliefs = jt.infer(WALK, [[1.0], [2.0], [3.0], [5.0]])
    assert beliefs.forecast(3).to_diagram().index == range(4, 7)
    assert beliefs.predictions.to_diagram().index == range(4)
    weather = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.2, 0.8]])
    assert jt.infer(weather, [0, 1, 1]).forecast(2).to_diagram().index == range(3, 5)


def test_a_state_space_is_drawn_as_two_steps():
    def edges(model):
        return {(edge.source, edge.target) for edge in model.to_diagram().edges}

    steps = {("state t", "state t+1"), ("state t", "observation t"), ("state t+1", "observation t+1")}
    assert edges(WALK) == steps
    assert edges(WALK.with_parts(input_to_state=[[1.0]])) == steps | {("input t", "state t+1")}
    assert edges(WALK.with_parts(input_to_observation=[[1.0]])) > steps
    assert "observation t+1" in jt.draw(WALK).svg
    assert "<svg" in WALK._repr_html_()
