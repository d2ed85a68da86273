"""The bootstrap: go back to a snapshot, retrain on simulated targets, keep the shift."""

from confide.bootstrap.algorithm import Bootstrap as Bootstrap
from confide.bootstrap.algorithm import BootstrappedEnsemble as BootstrappedEnsemble
from confide.bootstrap.algorithm import Keys as Keys
from confide.bootstrap.algorithm import bootstrapped_ensemble as bootstrapped_ensemble
from confide.bootstrap.algorithm import simulated_targets as simulated_targets
from confide.bootstrap.algorithm import train_ensemble as train_ensemble
