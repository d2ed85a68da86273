"""The scikit-learn face: estimators, and the files they are kept in."""

from confide.estimators.base import IntervalRegressor as IntervalRegressor
from confide.estimators.confidence import ConfidenceRegressor as ConfidenceRegressor
from confide.estimators.files import load as load
from confide.estimators.files import load_content as load_content
from confide.estimators.long_tables import NOT_CALIBRATED as NOT_CALIBRATED
from confide.estimators.long_tables import in_some_row as in_some_row
from confide.estimators.own_parts import in_words as in_words
from confide.estimators.recipes import RECIPES as RECIPES
from confide.estimators.regressors import ESTIMATORS as ESTIMATORS
from confide.estimators.regressors import (
    BootstrappedDeepEnsembleRegressor as BootstrappedDeepEnsembleRegressor,
)
from confide.estimators.regressors import (
    BootstrappedEnsembleRegressor as BootstrappedEnsembleRegressor,
)
from confide.estimators.regressors import ConcreteDropoutRegressor as ConcreteDropoutRegressor
from confide.estimators.regressors import DeepEnsembleRegressor as DeepEnsembleRegressor
from confide.estimators.regressors import NaiveBootstrapRegressor as NaiveBootstrapRegressor
from confide.estimators.regressors import (
    QualityDrivenEnsembleRegressor as QualityDrivenEnsembleRegressor,
)
from confide.estimators.regressors import register as register
from confide.estimators.several import Predictions as Predictions
from confide.estimators.several import models_of as models_of
from confide.estimators.several import prefixed as prefixed
from confide.estimators.several import refuse_several as refuse_several
from confide.estimators.several import refuse_too_many as refuse_too_many
from confide.estimators.side_by_side import for_each_target as for_each_target
from confide.estimators.target import check_transform_and_bounds as check_transform_and_bounds
from confide.estimators.training_rows import TrainingRows as TrainingRows
from confide.estimators.validation import as_fitted_table as as_fitted_table
from confide.estimators.validation import check_targets as check_targets
from confide.estimators.validation import checked_training_data as checked_training_data
from confide.estimators.validation import neglected_words as neglected_words
from confide.moved import renamed

__getattr__ = renamed(
    __name__, {"EnsembleRegressor": "IntervalRegressor", "TrainingTable": "TrainingRows"}
)
