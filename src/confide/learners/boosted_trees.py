"""Boosted trees as learners of Algorithm 1: an epoch is a round of boosting.

Neither library is imported before one of its learners is made.
"""

from collections.abc import Mapping

from confide.learners.boosting import BoostedTrees
from confide.learners.lightgbm_trees import LightGBM
from confide.learners.xgboost_trees import XGBoost

__all__ = ["LEARNERS", "LightGBM", "XGBoost"]

LEARNERS: Mapping[str, type[BoostedTrees]] = {"xgboost": XGBoost, "lightgbm": LightGBM}
