"""`compare_on_table`: learners of Juncture and scikit-learn, judged on the same folds of one table."""

from juncture.estimators.comparison.result import ColumnImportance, LearnerResult, TableComparison
from juncture.estimators.comparison.run import compare_on_table
from juncture.estimators.comparison.task import PredictionTask

__all__ = ["ColumnImportance", "LearnerResult", "PredictionTask", "TableComparison", "compare_on_table"]
