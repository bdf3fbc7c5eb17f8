"""Transformers answer with frames: the columns have names, and say what the arrays say."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_union
from sklearn.preprocessing import MinMaxScaler

from support.estimator_kinds import over

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon
LIBRARIES = ("pandas", "polars")


def is_transformer(kind):
    return kind.is_transformer


@pytest.mark.parametrize("library", LIBRARIES)
@over(is_transformer)
def test_a_frame_holds_the_array_under_its_names(kind, library):
    table = kind.frame(library)
    fitted = kind.fit(table)
    wanted, names = fitted.transform(table), fitted.get_feature_names_out().tolist()
    assert names == [f"{kind.name.lower()}{number}" for number in range(wanted.shape[1])]
    for found in (
        kind.build().set_output(transform=library).fit(table, kind.targets).transform(table),
        kind.build().set_output(transform=library).fit_transform(table, kind.targets),
        fitted.set_output(transform=library).transform(table),
    ):
        assert type(found) is type(table)
        assert list(found.columns) == names
        np.testing.assert_array_equal(found.to_numpy(), wanted)
    np.testing.assert_array_equal(fitted.set_output(transform="default").transform(table), wanted)


@over(is_transformer)
def test_the_index_of_rows_is_kept(kind):
    table = kind.frame().set_index(100 + np.arange(len(kind.rows)))
    found = kind.build().set_output(transform="pandas").fit_transform(table, kind.targets)
    assert found.index.equals(table.index)


@pytest.mark.parametrize("library", LIBRARIES)
@over(is_transformer)
def test_frames_of_several_transformers_stand_side_by_side(kind, library):
    table = kind.frame(library)
    both = make_union(kind.build(), MinMaxScaler())
    whole = make_column_transformer((kind.build(), list(table.columns)), remainder="drop")
    with sklearn.config_context(transform_output=library):
        found = both.fit_transform(table, kind.targets)
        alone = whole.fit_transform(table, kind.targets)
    assert list(found.columns) == both.get_feature_names_out().tolist()
    assert list(alone.columns) == whole.get_feature_names_out().tolist()
    assert found.shape[1] == alone.shape[1] + table.shape[1]
