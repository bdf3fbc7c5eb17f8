"""What statistics refuse: one sentence, with the row where that helps."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import FormatError, InvalidData, JunctureError
from juncture.families.registry import FAMILIES
from juncture.families.statistics_document import statistics_from_dict, statistics_from_json
from juncture.runtime.parallel import BLOCK
from support.family_examples import MEMBERS, assert_is_a_sentence, draws, few, members_of, over, provides, rows_of
from support.family_values import outside_of

SUMMARISED = [member for member in few(MEMBERS) if provides(type(member), "_summarise")]
over_summarised = over(SUMMARISED)
FLAT = [member for member in SUMMARISED if not isinstance(member.sample(rng=0), tuple)]


def refused(call, match):
    with pytest.raises(InvalidData, match=match) as caught:
        call()
    assert_is_a_sentence(caught.value)


def refusal(call):
    """What is said in refusing, or None."""
    try:
        call()
    except InvalidData as error:
        assert_is_a_sentence(error)
        return str(error)
    return None


@over(FLAT)
def test_values_outside_are_refused_with_their_row(member):
    """The support as far as what is known fixes it."""
    values = np.array(draws(member, 5), dtype=float)
    is_fixed = provides(type(member), "_support_given")
    inside = type(member)._support_given(member._known()) if is_fixed else member.support
    for value in outside_of(member):
        if np.shape(value) != values.shape[1:] or inside.contains(np.asarray(value)):
            continue
        broken = values.copy()
        broken[3] = value
        refused(lambda broken=broken: member.statistics(broken), "row 3 ")


@over(FLAT)
def test_the_row_is_right_in_a_later_block(member):
    values = np.array(draws(member, 5), dtype=float)
    long = np.concatenate([values] * (BLOCK // 4))
    long[BLOCK + 11] = np.nan
    refused(lambda: member.statistics(long), f"row {BLOCK + 11} ")


@over(FLAT)
def test_missing_values_are_refused_with_their_row(member):
    values = np.array(draws(member, 5), dtype=float)
    values[(2,) + (0,) * (values.ndim - 1)] = np.nan
    refused(lambda: member.statistics(values), "row 2 ")


@over_summarised
def test_weights_are_checked(member):
    values = draws(member, 4)
    refused(lambda: member.statistics(values, weights=[1, 1, 1]), "one number per row")
    refused(lambda: member.statistics(values, weights=2.0), "one number per row")
    refused(lambda: member.statistics(values, weights=["a"] * 4), "weights must be numbers")
    for wrong in (-1.0, np.nan, np.inf):
        refused(lambda wrong=wrong: member.statistics(values, weights=[1, 1, wrong, 1]), "row 2")


@over_summarised
def test_what_is_no_number_is_refused(member):
    for nonsense in (["a", "b"], [[1.0], [1.0, 2.0], [1.0]], {"x": 1}):
        with pytest.raises(JunctureError):
            member.statistics(nonsense)


@over_summarised
def test_unknown_knowledge_is_refused(member):
    refused(lambda: member.statistics(draws(member, 3), nonsense=1), "knows nothing of 'nonsense'")


@over([member for member in SUMMARISED if member.required])
def test_known_parameters_must_be_given(member):
    """Unless the data tell it: the number of categories, say."""
    said = refusal(lambda: type(member).statistics(draws(member, 3)))
    assert said is None or any(name in said for name in member.required)


@over_summarised
def test_other_families_do_not_add(member):
    other = next(other for other in SUMMARISED if type(other) is not type(member))
    own, foreign = member.statistics(draws(member, 3)), other.statistics(draws(other, 3))
    refused(lambda: own + foreign, "do not add")
    refused(lambda: type(member).estimate(foreign), "takes")
    refused(lambda: type(member).estimate([1, 2]), "takes")
    with pytest.raises(TypeError):
        own + 1
    if provides(type(member), "natural_parameters"):
        refused(lambda: member.log_likelihood(foreign), "not statistics of")
        refused(lambda: member.score(foreign), "not statistics of")


@over([member for member in SUMMARISED if member.required])
def test_other_knowledge_does_not_add(member):
    own = member.statistics(draws(member, 3))
    for other in members_of(type(member)):
        if any(not np.array_equal(other._known()[name], member._known()[name]) for name in member.required):
            refused(lambda other=other: own + other.statistics(draws(other, 3)), "same is known|shape")


@over_summarised
def test_other_batches_do_not_add(member):
    values = draws(member, 3)
    single, batch = member.statistics(values), member.statistics(values, weights=np.ones((3, 2)))
    refused(lambda: single + batch, "batches of shape")


@over([members_of(family)[0] for family in FAMILIES.values() if members_of(family) and provides(family, "_summarise")])
def test_broken_files_are_refused(member):
    document = member.statistics(draws(member, 3)).to_dict()
    for text in ("[1]", "{"):
        with pytest.raises(FormatError, match="one JSON object"):
            statistics_from_json(text)
    refused(lambda: statistics_from_dict(document | {"family": "Nothing"}), "no statistics of the kind")
    refused(lambda: statistics_from_dict(document | {"kind": "Nothing"}), "no statistics of the kind")
    refused(lambda: statistics_from_dict({name: document[name] for name in ("kind", "family")}), "statistics need")


@over(FLAT)
def test_totals_of_another_length_are_refused(member):
    """Where the family alone says how many statistics there are; vectors may be of any length."""
    document = member.statistics(draws(member, 5)).to_dict()
    if "total" not in document or member.event_shape or np.ndim(document["weight"]):
        return
    total = list(document["total"])
    for other in ([*total, 1.0], total[:-1]):
        refused(lambda other=other: statistics_from_dict(document | {"total": other}), f"{len(total)} entries")


@pytest.mark.parametrize("num_states", [1, 3, 2**32, 2**62])
def test_a_number_of_states_other_than_that_of_the_total_is_refused_before_it_is_allocated(num_states):
    document = FAMILIES["Categorical"].statistics([0, 1, 1], num_states=2).to_dict()
    refused(lambda: statistics_from_dict(document | {"known": {"num_states": num_states}}), "the total of Categorical")


@over_summarised
def test_rows_of_one_alone(member):
    """n = 1: an estimate, or a sentence about which data would make one."""
    single = member.statistics(rows_of(draws(member, 1), 0))
    said = refusal(lambda: type(member).estimate(single))
    assert said is None or "give" in said or "need" in said, said
