"""Simulated truths: data whose true function and noise are known."""

from confide.simulate.random_forest import RandomForestTruth

__all__ = ["RandomForestTruth"]
