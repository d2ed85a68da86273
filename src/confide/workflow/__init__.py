"""From a file to a page: what the commands do, as functions."""

from confide.workflow.check import CheckedTable, check_table
from confide.workflow.describe import Description, described
from confide.workflow.fit import FittedTable, fit_table, without_columns
from confide.workflow.notes import Notes
from confide.workflow.page.content import page_document
from confide.workflow.page.inputs import PageInputs
from confide.workflow.predict import (
    arrow_types,
    feature_names,
    features_of,
    kept_columns,
    one_ahead,
    prediction_blocks,
    refuse_missing_columns,
)
from confide.workflow.report import page_inputs
from confide.workflow.training_table import TrainingTable

__all__ = [
    "CheckedTable",
    "Description",
    "FittedTable",
    "Notes",
    "PageInputs",
    "TrainingTable",
    "arrow_types",
    "check_table",
    "described",
    "feature_names",
    "features_of",
    "fit_table",
    "kept_columns",
    "one_ahead",
    "page_document",
    "page_inputs",
    "prediction_blocks",
    "refuse_missing_columns",
    "without_columns",
]
