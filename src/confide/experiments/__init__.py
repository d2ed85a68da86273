"""Experiments: every table and figure of the paper, in cells that are run once and kept.

Read `experiment.py` for what an experiment is, `catalogue/` for the list and `store.py` for how
results are kept; `confide.engines` runs the cells.
"""

from confide.experiments.catalogue import EXPERIMENTS as EXPERIMENTS
from confide.experiments.cell import Cell as Cell
from confide.experiments.display import Display as Display
from confide.experiments.document import document_of as document_of
from confide.experiments.document import runs_in as runs_in
from confide.experiments.experiment import Experiment as Experiment
from confide.experiments.experiment import Findings as Findings
from confide.experiments.experiment import cells_of as cells_of
from confide.experiments.experiment import open_run as open_run
from confide.experiments.options import Options as Options
from confide.experiments.store import QUICK as QUICK
from confide.experiments.store import RunFolder as RunFolder
from confide.experiments.store import RunFolderError as RunFolderError
from confide.experiments.store import Saved as Saved
