"""`compare_on_table`: learners of Juncture and scikit-learn, judged on the same folds of one table."""

from juncture.estimators import NaiveBayes as NaiveBayes  # isort: skip  (first: without scikit-learn it names the extra)
from juncture.cli.comparison.result import ColumnImportance, LearnerResult, TableComparison
from juncture.cli.comparison.run import compare_on_table
from juncture.cli.comparison.task import PredictionTask

__all__ = ["ColumnImportance", "LearnerResult", "PredictionTask", "TableComparison", "compare_on_table"]
