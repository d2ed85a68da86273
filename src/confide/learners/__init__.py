"""Learners: what Algorithm 1 trains. The protocol, and networks in JAX as the default.

Read `protocol.py` first, then `likelihood.py` (what outputs mean), `loop.py` (one member, one
training loop) and `ensemble.py` (members in blocks over the cores).
"""

from confide.learners.blocks import slices as slices
from confide.learners.data import TrainingData as TrainingData
from confide.learners.dropout import thinned as thinned
from confide.learners.ensemble import MOST_MEMBERS_PER_BLOCK as MOST_MEMBERS_PER_BLOCK
from confide.learners.ensemble import NetworkEnsemble as NetworkEnsemble
from confide.learners.ensemble import balanced_block as balanced_block
from confide.learners.errors import TrainingDivergedError as TrainingDivergedError
from confide.learners.likelihood import Likelihood as Likelihood
from confide.learners.likelihood import Normal as Normal
from confide.learners.likelihood import SquaredError as SquaredError
from confide.learners.loop import MemberState as MemberState
from confide.learners.loop import opened as opened
from confide.learners.named import LEARNERS as LEARNERS
from confide.learners.named import named_learner as named_learner
from confide.learners.network import Dense as Dense
from confide.learners.network import Network as Network
from confide.learners.network import PaperNetwork as PaperNetwork
from confide.learners.network import Perceptron as Perceptron
from confide.learners.network import PerceptronNetwork as PerceptronNetwork
from confide.learners.networks import PAPER as PAPER
from confide.learners.networks import TABULAR as TABULAR
from confide.learners.networks import dropout_networks as dropout_networks
from confide.learners.networks import jax_networks as jax_networks
from confide.learners.networks import layer_sizes as layer_sizes
from confide.learners.networks import networks as networks
from confide.learners.plain import PlainNetworks as PlainNetworks
from confide.learners.plain import plain_networks as plain_networks
from confide.learners.protocol import Learner as Learner
from confide.learners.protocol import Plan as Plan
from confide.learners.protocol import Strength as Strength
from confide.learners.protocol import require_learner as require_learner
from confide.learners.spread import spread as spread
from confide.learners.stored import MOST_ROWS as MOST_ROWS
from confide.learners.stored import StoredData as StoredData
from confide.learners.stored import StoredRows as StoredRows
from confide.learners.stored import StoredTargets as StoredTargets
from confide.learners.stored import store as store
from confide.randomness import as_key as as_key
