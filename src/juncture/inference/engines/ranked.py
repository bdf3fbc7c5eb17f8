"""`RankedAnswers`: the k best answers to one question, the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from juncture.base.values import number_of
from juncture.drawing.notebook import diagram_html, html_table
from juncture.factors.printed_tables import MAX_HTML_ROWS, format_omitted
from juncture.factors.scope_tables import import_pandas

if TYPE_CHECKING:
    import pandas as pd

    from juncture.drawing.diagram import Drawing

Answer = TypeVar("Answer")


class RankedAnswers(list[Answer]):
    """A list of the best assignments or paths, best first, which notebooks show in one table.

    Examples
    --------
    >>> import juncture as jt
    >>> best = jt.most_probable(jt.example("asia"), {"xray": "yes"}, k=2)
    >>> best.to_pandas()["lung"].tolist()
    ['yes', 'no']
    """

    def to_diagram(self) -> Drawing:
        """The answers below one another, with what differs from the best one marked."""
        drawn: Drawing = self[0]._diagram_of(self)  # type: ignore[attr-defined]
        return drawn

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each rank: log_prob, log_joint, and the states of the assignment or of the path."""
        pandas = import_pandas()
        rows = [
            {"log_prob": each.log_prob, "log_joint": each.log_joint, **states_of(each)}  # type: ignore[attr-defined]
            for each in self
        ]
        return pandas.DataFrame(rows, index=pandas.RangeIndex(1, len(self) + 1, name="rank"))

    def _repr_html_(self) -> str:
        words = f"the {number_of(len(self), 'best answer')}, best first" if self else "no answer is possible"
        if not self:
            return f"<p><code>{words}</code></p>"
        numbers = (
            (rank, *("" if log is None else f"{log:.6g}" for log in (each.log_prob, each.log_joint)))  # type: ignore[attr-defined]
            for rank, each in enumerate(self[:MAX_HTML_ROWS], 1)
        )
        table = html_table(["rank", "log_prob", "log_joint"], numbers, format_omitted(len(self)), num_labels=1)
        return diagram_html(words, self.to_diagram()) + table


def states_of(answer: Any) -> dict[Any, Any]:
    """The states of an assignment by variable, or those of a path by step."""
    return dict(answer.assignment) if hasattr(answer, "assignment") else dict(enumerate(answer.path))
