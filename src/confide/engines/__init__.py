"""Engines: what runs independent pieces of work, in this process or on Ray.

Read `protocol.py` for what an engine is given: pieces, a store that claims and keeps them, and an
observer. An experiment's cells and the folder of its run are one example.
"""

from confide.engines.in_process import InProcess
from confide.engines.protocol import Engine, Observer, Piece, Store
from confide.engines.ray_cluster import LostPieceError, RayCluster

__all__ = ["Engine", "InProcess", "LostPieceError", "Observer", "Piece", "RayCluster", "Store"]
