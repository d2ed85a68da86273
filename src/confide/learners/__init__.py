"""Learners: what Algorithm 1 trains. The protocol, and networks in JAX as the default.

Read `protocol.py` first, then `loop.py` (one member, one training loop), then `ensemble.py`
(members in blocks over the cores).
"""

from confide.learners.data import TrainingData
from confide.learners.ensemble import NetworkEnsemble, balanced_block
from confide.learners.errors import TrainingDivergedError
from confide.learners.loop import MemberState
from confide.learners.objective import GaussianLikelihood, Objective
from confide.learners.protocol import Learner, Progress, RestartingLearner

__all__ = [
    "GaussianLikelihood",
    "Learner",
    "MemberState",
    "NetworkEnsemble",
    "Objective",
    "Progress",
    "RestartingLearner",
    "TrainingData",
    "TrainingDivergedError",
    "balanced_block",
]
