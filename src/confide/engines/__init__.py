"""Engines: where work is done, in this process, with joblib or on Ray. The numbers are the same.

Read `protocol.py` first. An engine maps a function over items, such as blocks of members or
simulated data sets; or it is given pieces, a store that claims and keeps them, and an observer,
such as an experiment's cells and the folder of its run.
"""

from confide.engines.in_process import InProcess as InProcess
from confide.engines.joblib_jobs import Joblib as Joblib
from confide.engines.named import ENGINES as ENGINES
from confide.engines.named import named_engine as named_engine
from confide.engines.protocol import Engine as Engine
from confide.engines.protocol import Observer as Observer
from confide.engines.protocol import Piece as Piece
from confide.engines.protocol import Store as Store
from confide.engines.ray_cluster import RayCluster as RayCluster
from confide.errors import ClusterError as ClusterError
from confide.errors import LostPieceError as LostPieceError
