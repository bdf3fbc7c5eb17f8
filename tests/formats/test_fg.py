"""libDAI FG: the first variable changes fastest, zeros are left out, and the model is the one of a UAI file."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given

import juncture as jt
from juncture.errors import FormatError
from juncture.formats.fg import read_fg, write_fg
from juncture.formats.row_repair import RowRepair
from juncture.formats.uai import read_uai, write_uai
from support.builders import random_field
from support.odd_models import generators

BLOCK = """# as in libDAI's manual
1

3
4 8 7   # these variables
3 2 2
11
0 0.1
1 3.5
2 2.8
3 6.3
4 8.4
6 7.4
7 2.4
8 8.9
9 1.3
11 2.6
10 1.6
"""


def read(text):
    return read_fg(text.encode(), RowRepair())


def test_the_first_variable_changes_fastest():
    """The example of libDAI's manual: entry 4 is x4 = 1, x8 = 1, x7 = 0, entry 5 is missing, and 10 comes after 11."""
    graph = read(BLOCK)
    values = [0.1, 3.5, 2.8, 6.3, 8.4, 0.0, 7.4, 2.4, 8.9, 1.3, 1.6, 2.6]
    assert isinstance(graph, jt.FactorGraph)
    assert [(v.name, v.num_states) for v in graph.variables] == [("x4", 3), ("x7", 2), ("x8", 2)]
    assert graph.factors[0].scope.names == ("x4", "x8", "x7")
    for x4, x8, x7 in product(range(3), range(2), range(2)):
        assert graph.factors[0].values[x4, x8, x7] == values[x4 + 3 * x8 + 6 * x7]
    assert read(write_fg(graph)) == graph


def fg_block(part):
    """A factor as libDAI lays it out, entry by entry."""
    strides = np.cumprod([1, *part.values.shape])[: part.values.ndim]
    cells = [f"{sum(codes * strides)} {part.values[codes]}" for codes in np.ndindex(part.values.shape)]
    variables, sizes = " ".join(name[1:] for name in part.scope.names), " ".join(map(str, part.values.shape))
    return "\n".join([str(len(part.scope)), variables, sizes, str(len(cells)), *cells])


@given(rng=generators)
def test_the_same_model_as_in_a_uai_file(rng):
    """A UAI table is row-major over its scope: the last variable changes fastest."""
    field = random_field(rng)
    plain = {variable.name: jt.Variable(f"x{at}", variable.num_states) for at, variable in enumerate(field.variables)}
    factors = [jt.Factor([plain[name] for name in part.scope.names], part.values) for part in field.factors]
    assume(any(part.scope for part in factors))  # FG holds no model without variables
    graph = read("\n\n".join([str(len(factors)), *map(fg_block, factors)]))
    model = read_uai(write_uai(jt.MarkovNetwork(factors, plain.values())).encode(), RowRepair())

    assert graph.factors == model.factors


def test_marginals_are_those_of_enumeration(tmp_path):
    network = jt.example("asia")
    with pytest.warns(UserWarning, match="a Bayesian network is read back as a factor graph"):
        jt.write(network, tmp_path / "asia.fg")
    graph = jt.read(tmp_path / "asia.fg")
    expected = jt.infer(network, {"xray": "yes"}, method=jt.Enumeration())
    beliefs = jt.infer(graph, {f"x{network.variables.names.index('xray')}": network.variable("xray").code("yes")})
    for at, name in enumerate(network.variables.names):
        np.testing.assert_allclose(beliefs[f"x{at}"].values, expected[name].values, atol=1e-12)


REFUSED = {
    "1\n\n1\n0\n2\n1\n2 0.5\n": "an index of the factor over (x0) must be a whole number, at most 1; found 2",
    "1\n\n1\n0\n2\n2\n1 0.5\n1 0.5\n": "the factor over (x0) gives the entry 1 twice",
    "1\n\n1\n0\n2\n3\n0 1\n1 1\n1 1\n": "must be a whole number, at least 0 and at most 2",
    "2\n\n1\n0\n2\n1\n0 1\n\n1\n0\n3\n1\n0 1\n": "x0 has 3 states here and 2 in a factor before",
    "1\n\n1\n0\n2\n1\n0 -1\n": "found -1; numbers must be finite and not negative",
    "2\n\n1\n0\n2\n1\n0 1\n": "the file ends too early",
    "1\n\n1\n0\n2\n1\n0 1\n7\n": "expected the end of the file, found 1 more numbers",
}


@pytest.mark.parametrize("text", REFUSED)
def test_broken_files_are_refused(text):
    with pytest.raises(FormatError, match=re.escape(REFUSED[text])):
        read(text)


def test_a_variable_without_a_factor_is_refused():
    x, y = jt.Variable("x0", 2), jt.Variable("x1", 2)
    with pytest.raises(FormatError, match="FG cannot hold 'x1', which no factor mentions; add a factor of ones"):
        write_fg(jt.FactorGraph([jt.Factor([x], [1, 2])], [x, y]))


@pytest.mark.parametrize("text", ["0", "1\n0\n\n1\n0 2.5", "2\n0\n\n1\n0 2.5\n\n0\n\n0"])
def test_a_file_without_variables_is_no_model(text):
    """FG cannot hold such a model, so that a file which looks like one is damaged."""
    with pytest.raises(FormatError, match="no factor has a variable"):
        read_fg(text.encode(), RowRepair())
