"""Learners: what Algorithm 1 trains. The protocol, and networks in JAX as the default.

Read `protocol.py` first, then `loop.py` (one member, one training loop), then `ensemble.py`
(members in blocks over the cores).
"""

from confide.learners.data import TrainingData
from confide.learners.ensemble import (
    MOST_MEMBERS_PER_BLOCK,
    NetworkEnsemble,
    balanced_block,
)
from confide.learners.errors import TrainingDivergedError
from confide.learners.loop import MemberState, as_key, unravel
from confide.learners.network import Perceptron
from confide.learners.objective import GaussianLikelihood, Objective
from confide.learners.protocol import Learner, Progress, RestartingLearner

__all__ = [
    "MOST_MEMBERS_PER_BLOCK",
    "GaussianLikelihood",
    "Learner",
    "MemberState",
    "NetworkEnsemble",
    "Objective",
    "Perceptron",
    "Progress",
    "RestartingLearner",
    "TrainingData",
    "TrainingDivergedError",
    "as_key",
    "balanced_block",
    "unravel",
]
