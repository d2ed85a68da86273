"""Learners: what Algorithm 1 trains. The protocol, and networks in JAX as the default.

Read `protocol.py` first, then `likelihood.py` (what outputs mean), `loop.py` (one member, one
training loop) and `ensemble.py` (members in blocks over the cores).
"""

from confide.learners.blocks import slices
from confide.learners.data import TrainingData
from confide.learners.dropout import thinned
from confide.learners.ensemble import (
    MOST_MEMBERS_PER_BLOCK,
    NetworkEnsemble,
    balanced_block,
)
from confide.learners.errors import TrainingDivergedError
from confide.learners.likelihood import Likelihood, Normal, SquaredError
from confide.learners.loop import MemberState, opened
from confide.learners.named import LEARNERS, named_learner
from confide.learners.network import Dense, Network, PaperNetwork, Perceptron
from confide.learners.networks import (
    PAPER,
    dropout_networks,
    jax_networks,
    layer_sizes,
    networks,
)
from confide.learners.protocol import Learner, Plan, require_learner
from confide.randomness import as_key

__all__ = [
    "LEARNERS",
    "MOST_MEMBERS_PER_BLOCK",
    "PAPER",
    "Dense",
    "Learner",
    "Likelihood",
    "MemberState",
    "Network",
    "NetworkEnsemble",
    "Normal",
    "PaperNetwork",
    "Perceptron",
    "Plan",
    "SquaredError",
    "TrainingData",
    "TrainingDivergedError",
    "as_key",
    "balanced_block",
    "dropout_networks",
    "jax_networks",
    "layer_sizes",
    "named_learner",
    "networks",
    "opened",
    "require_learner",
    "slices",
    "thinned",
]
