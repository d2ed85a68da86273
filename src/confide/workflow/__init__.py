"""From a file to a page: what the commands do, as functions."""

from confide.workflow.check import CheckedTable as CheckedTable
from confide.workflow.check import check_table as check_table
from confide.workflow.check import compared as compared
from confide.workflow.check import settings_of as settings_of
from confide.workflow.columns import as_meant as as_meant
from confide.workflow.describe import Description as Description
from confide.workflow.describe import described as described
from confide.workflow.fit import FittedTable as FittedTable
from confide.workflow.fit import fit_table as fit_table
from confide.workflow.notes import Notes as Notes
from confide.workflow.page.content import page_document as page_document
from confide.workflow.page.inputs import PageInputs as PageInputs
from confide.workflow.predict import arrow_types as arrow_types
from confide.workflow.predict import feature_names as feature_names
from confide.workflow.predict import features_of as features_of
from confide.workflow.predict import kept_columns as kept_columns
from confide.workflow.predict import n_fits as n_fits
from confide.workflow.predict import one_ahead as one_ahead
from confide.workflow.predict import prediction_blocks as prediction_blocks
from confide.workflow.predict import refuse_missing_columns as refuse_missing_columns
from confide.workflow.predict import rows_per_block as rows_per_block
from confide.workflow.predict import without_formulas as without_formulas
from confide.workflow.report import MOST_ROWS as MOST_ROWS
from confide.workflow.report import page_inputs as page_inputs
from confide.workflow.training_table import TrainingTable as TrainingTable
