"""The order of the axes of cliques that are worked out chunk by chunk, and of the messages between them.

The last axes of a clique, its core, should be last in every large table that its cells read: then chunks read and add
whole strips. A core is kept from the parent as long as the large messages of a clique have it; otherwise those of its
axes that most of the messages have, and of these the ones that go on longest below, become the core. The other axes are
ordered by how much of the messages has them, so that what few tables have is looped over innermost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import find_member

CORE_CELLS = 32  # at least
ENOUGH = 0.7  # of the entries of messages that have the most common axis: so many have an axis of the core


class FactoredLayout(NamedTuple):
    """The arrays that the kernels read.

    Tables are numbered: the factors, the message of every clique, the likelihood of every node, the marginal of every
    node, the sums for every factor.
    """

    num_states: Any  # (node,)
    starts: Any  # (clique + 1,): axes[starts[c]:starts[c + 1]] are the axes of clique c, parents first
    axes: Any
    parents: Any  # (clique,)
    table_at: Any  # (table,): where its entries begin in the store
    table_starts: Any  # (table + 1,)
    table_nodes: Any  # the nodes of each table, in the order of the clique that holds it
    held_starts: Any  # (clique + 1,)
    held: Any  # the tables whose product a clique is: factors, its children's messages, likelihoods
    asked_starts: Any  # (clique + 1,)
    asked: Any  # the tables that a clique's cells are summed to when asked: marginals, sums for its factors
    child_starts: Any  # (clique + 1,)
    children: Any
    homes: Any  # (node,): the clique that holds its likelihood, and is asked for its marginal
    first_message: Any  # the number of the message of clique 0
    scratch: Any  # where sums for the children of a clique begin in the store
    spare: Any  # where combined tables begin


@kernel
def measure_cliques(starts, members, parents, num_states):
    """(above (member,), sizes, separators (clique,)): where a member is in the parent clique, -1 for nowhere."""
    above = np.full(len(members), -1, np.int64)
    sizes, separators = np.ones(len(parents)), np.ones(len(parents))
    for clique in range(len(parents)):
        for index in range(starts[clique], starts[clique + 1]):
            sizes[clique] *= num_states[members[index]]
            if parents[clique] >= 0:
                above[index] = find_member(starts, members, parents[clique], members[index])
            if above[index] >= 0:
                separators[clique] *= num_states[members[index]]
    return above, sizes, separators


@kernel
def weigh_members(starts, parents, above, sizes, separators):
    """(weights, lives (member,)): the entries of a clique's messages that have a member; the cells from there down."""
    weights, lives = np.zeros(len(above)), np.zeros(len(above))
    for clique in range(len(parents) - 1, -1, -1):
        for index in range(starts[clique], starts[clique + 1]):
            lives[index] += sizes[clique]
            if above[index] >= 0:
                weights[index] += separators[clique]
                weights[above[index]] += separators[clique]
                lives[above[index]] += lives[index]
    return weights, lives


@kernel
def order_axes(starts, members, parents, num_states):
    """(axes, message starts, message nodes): every clique's axes in order, and the nodes of its message in order."""
    above, sizes, separators = measure_cliques(starts, members, parents, num_states)
    weights, lives = weigh_members(starts, parents, above, sizes, separators)
    axes, message_nodes = np.empty(len(members), np.int64), np.empty(len(members), np.int64)
    message_starts = np.zeros(len(parents) + 1, np.int64)
    for clique in range(len(parents)):
        first, stop = starts[clique], starts[clique + 1]
        at = message_starts[clique]
        places = np.full(stop - first, len(members), np.int64)  # of the members in the message
        if parents[clique] >= 0:
            for spot in range(starts[parents[clique]], starts[parents[clique] + 1]):
                index = find_member(starts, members, clique, axes[spot])
                if index >= 0:
                    places[index - first] = at
                    message_nodes[at] = axes[spot]
                    at += 1
        message_starts[clique + 1] = at
        own, states = weights[first:stop], num_states[members[first:stop]]
        core = choose_core(places, message_starts[clique], at, states, own, lives[first:stop])
        order = sort_members(core, own, places)
        for index in range(stop - first):
            axes[first + index] = members[first + order[index]]
    return axes, message_starts, message_nodes[: message_starts[-1]].copy()


@kernel
def choose_core(places, first, end, states, weights, lives):
    """(member,): the place of each member in the core, from outside; -1 for others. `first` to `end` is the message.

    The last members of the message are kept if all of them are common enough, else the core is chosen anew.
    """
    core = np.full(len(places), -1, np.int64)
    enough = ENOUGH * weights.max()
    cells = np.int64(1)
    while cells < CORE_CELLS and end > first:
        end -= 1
        member = find_place(places, end)
        if weights[member] < enough:
            break
        core[member] = end
        cells *= states[member]
    if cells >= CORE_CELLS:
        return core
    core[:] = -1
    cells = np.int64(1)
    for taken in range(len(places)):
        best = np.int64(-1)
        for member in range(len(places)):
            if core[member] < 0 and (best < 0 or suits_better(member, best, enough, weights, lives)):
                best = np.int64(member)
        core[best] = len(places) - taken
        cells *= states[best]
        if cells >= CORE_CELLS:
            break
    return core


@kernel
def find_place(places, place):
    """Which member has this place."""
    member = np.int64(0)
    while places[member] != place:
        member += 1
    return member


@kernel
def suits_better(one, other, enough, weights, lives):
    """Whether a member is to be taken into the core before another."""
    if weights[one] >= enough and weights[other] >= enough:
        return lives[one] > lives[other]
    return weights[one] > weights[other]


@kernel
def sort_members(core, weights, places):
    """The members by falling weight, then as in the message; last the core."""
    order = np.arange(len(core))
    for index in range(1, len(order)):  # insertion sort
        member = order[index]
        spot = index
        while spot > 0 and goes_after(order[spot - 1], member, core, weights, places):
            order[spot] = order[spot - 1]
            spot -= 1
        order[spot] = member
    return order


@kernel
def goes_after(one, other, core, weights, places):
    """Whether a member comes after another among the axes."""
    if core[one] >= 0 or core[other] >= 0:
        return core[one] > core[other]
    if weights[one] != weights[other]:
        return weights[one] < weights[other]
    return places[one] > places[other]
