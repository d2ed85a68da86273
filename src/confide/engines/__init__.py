"""Engines: what runs independent pieces of work, in this process or on Ray.

Read `protocol.py` for what an engine is given: pieces, a store that claims and keeps them, and an
observer. An experiment's cells and the folder of its run are one example.
"""

from confide.engines.in_process import InProcess as InProcess
from confide.engines.protocol import Engine as Engine
from confide.engines.protocol import Observer as Observer
from confide.engines.protocol import Piece as Piece
from confide.engines.protocol import Store as Store
from confide.engines.ray_cluster import LostPieceError as LostPieceError
from confide.engines.ray_cluster import RayCluster as RayCluster
