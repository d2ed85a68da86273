"""Simulated truths: data whose true function and noise are known.

Read `truth.py` for what a truth is and `noise.py` for the laws its noise may have. A truth is a
formula (`analytic.py`, and our own in `synthetic.py`), or fitted to a real data set as in the paper
(`fitted_truths.py`).
`twin_choice.py` finds the twins that calibration simulates from (`fitted_twin.py`); their functions
are made of trees or smooth (`smooth.py`).
"""

from confide.simulate.analytic import ANALYTIC_TRUTHS as ANALYTIC_TRUTHS
from confide.simulate.analytic import AnalyticTruth as AnalyticTruth
from confide.simulate.analytic import Borehole as Borehole
from confide.simulate.analytic import Branin as Branin
from confide.simulate.analytic import Friedman1 as Friedman1
from confide.simulate.analytic import Friedman2 as Friedman2
from confide.simulate.analytic import Friedman3 as Friedman3
from confide.simulate.analytic import Ishigami as Ishigami
from confide.simulate.analytic import Sine as Sine
from confide.simulate.fitted_truths import TWINS as TWINS
from confide.simulate.fitted_truths import GradientBoostingTruth as GradientBoostingTruth
from confide.simulate.fitted_truths import NetworkTruth as NetworkTruth
from confide.simulate.fitted_truths import RandomForestTruth as RandomForestTruth
from confide.simulate.fitted_twin import OLD_KINDS as OLD_KINDS
from confide.simulate.fitted_twin import FittedTwin as FittedTwin
from confide.simulate.fitted_twin import standardised_inputs as standardised_inputs
from confide.simulate.noise import GAUSSIAN as GAUSSIAN
from confide.simulate.noise import NOISE_LAWS as NOISE_LAWS
from confide.simulate.noise import CentredGamma as CentredGamma
from confide.simulate.noise import Gaussian as Gaussian
from confide.simulate.noise import NoiseLaw as NoiseLaw
from confide.simulate.noise import Residuals as Residuals
from confide.simulate.noise import StudentT3 as StudentT3
from confide.simulate.synthetic import SYNTHETIC_TRUTHS as SYNTHETIC_TRUTHS
from confide.simulate.truth import Truth as Truth
from confide.simulate.twin_choice import CANDIDATES as CANDIDATES
from confide.simulate.twin_choice import FEWEST_ROWS as FEWEST_ROWS
from confide.simulate.twin_choice import Candidate as Candidate
from confide.simulate.twin_choice import boosting as boosting
from confide.simulate.twin_choice import fitted_twins as fitted_twins
from confide.simulate.twin_choice import n_steps as n_steps
