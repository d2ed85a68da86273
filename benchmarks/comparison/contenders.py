"""Who is compared, with which settings."""

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .answers import Fit

ADAPTERS = f"{__package__}.adapters"
NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Contender:
    """One way to predict with intervals.

    Attributes:
        label: its name in tables.
        fit: module and function of its adapter.
        package: the distribution that it belongs to.
        settings: what is not the library's default, in a sentence. It is part of a cell's
            identity: change it with the adapter, and the cells are run anew.
        confidence: what its confidence interval for the true function is, or "" if it has none.
        compiled: whether a first fit compiles programs that later ones in the process use again;
            None where it does, and a second one would take too long to be timed.
        environment: variables of its process.
        reads_frames: whether it takes frames with categories and holes; `encoding.py` makes numbers
            of them for the others.
    """

    label: str
    fit: str
    package: str
    settings: str
    confidence: str = ""
    compiled: bool | None = False
    environment: Mapping[str, str] = field(default_factory=lambda: NONE)
    reads_frames: bool = False

    @property
    def is_confide(self) -> bool:
        """Whether it is one of ours."""
        return self.package == "confide"

    def load(self) -> Fit:
        """Import its library, which may be missing."""
        module, _, function = self.fit.partition(":")
        fit: Fit = getattr(importlib.import_module(f"{ADAPTERS}.{module}"), function)
        return fit


def _confide(label: str, function: str, settings: str, confidence: str) -> Contender:
    fit = f"confide_ensembles:{function}"
    return Contender(label, fit, "confide", settings, confidence, compiled=True, reads_frames=True)


_BY_BOOTSTRAP = "classical and optimisation variance, Algorithm 1"
_LEFT_OUT = "Quantiles are shifted by the residuals of the rows that each network left out."
_ON_TWINS = "corrected for bias, and calibrated on simulated twins"
REFERENCE = "tabular"
"""Whom the sentences about the right choice compare with."""

CONTENDERS: Mapping[str, Contender] = {
    REFERENCE: Contender(
        "confide, recipe tabular",
        "confide_ensembles:tabular",
        "confide",
        'recipe="tabular", as it comes: confidence intervals are calibrated. A second fit in the '
        "same process was not timed.",
        _ON_TWINS,
        compiled=None,
        reads_frames=True,
    ),
    "bde": _confide("confide, recipe paper", "bootstrapped", 'recipe="paper".', _BY_BOOTSTRAP),
    "bde-auto": _confide(
        "confide, recipe paper, auto epochs",
        "automatic_epochs",
        'recipe="paper", max_epochs="auto".',
        _BY_BOOTSTRAP,
    ),
    "bde-conformal": _confide(
        "confide, recipe paper, conformal",
        "calibrated",
        'recipe="paper", fitted to 80 % of the training rows; `calibrate` on the rest.',
        _BY_BOOTSTRAP,
    ),
    "bde-honest": _confide(
        "confide, recipe paper, calibrated confidence",
        "calibrated_confidence",
        'recipe="paper", then `calibrate_confidence` on the training rows.',
        _ON_TWINS,
    ),
    "de": _confide(
        "confide DE, recipe paper", "deep_ensemble", 'recipe="paper".', "variance between members"
    ),
    "mapie-mlp": Contender(
        "MAPIE CV+, MLP",
        "mapie_cross:network",
        "mapie",
        "CrossConformalRegressor, five folds, around scikit-learn's MLPRegressor with confide's "
        "layers (40, 30, 20), batches of 32 and all of 80 epochs; inputs and target standardised.",
    ),
    "mapie-boosting": Contender(
        "MAPIE CV+, boosting",
        "mapie_cross:boosting",
        "mapie",
        "CrossConformalRegressor, five folds, around HistGradientBoostingRegressor; defaults.",
    ),
    "ngboost": Contender(
        "NGBoost", "ngboost_normal:fit", "ngboost", "NGBRegressor, normal law; defaults."
    ),
    "quantile-forest": Contender(
        "quantile-forest",
        "quantile_forests:fit",
        "quantile-forest",
        "RandomForestQuantileRegressor; defaults, on all cores.",
    ),
    "contrib-bde": Contender(
        "sklearn-contrib-bde",
        "bayesian_ensemble:fit",
        "sklearn-contrib-bde",
        "BdeRegressor as in its manual's example (8 members, hidden layers 16 and 16, 200 epochs, "
        "patience 10, 5000 warm-up steps, 2000 samples); inputs and target standardised; a JAX "
        "device for each of two cores. A second fit in the same process was not timed.",
        "credible interval: quantiles of the sampled networks' means",
        compiled=None,
        environment={
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={min(2, os.cpu_count() or 1)}"
        },
    ),
    "gp": Contender(
        "Gaussian process",
        "gaussian_process:fit",
        "scikit-learn",
        "scikit-learn's GaussianProcessRegressor, squared-exponential kernel with a length scale "
        "for each feature, which start at the root of their number, plus constant noise; inputs "
        "and target standardised.",
        "credible interval: posterior of the function",
    ),
    "skpro": Contender(
        "skpro ResidualDouble",
        "skpro_residual:fit",
        "skpro",
        "ResidualDouble: HistGradientBoostingRegressor for the mean and for the absolute residual "
        "(out of fold, five folds), Laplace law.",
    ),
    "catboost": Contender(
        "CatBoost",
        "catboost_normal:fit",
        "catboost",
        "CatBoostRegressor, RMSEWithUncertainty and posterior sampling as in its manual; defaults.",
        "variance between ten virtual ensembles",
        reads_frames=True,
    ),
    "catboost-conformal": Contender(
        "CatBoost, conformal",
        "catboost_normal:conformal",
        "catboost",
        "As CatBoost; quantiles, in its standard deviations, from the residuals of five folds.",
        "variance between ten virtual ensembles",
        reads_frames=True,
    ),
    "lightgbm": Contender(
        "LightGBM quantiles",
        "lightgbm_quantiles:fit",
        "lightgbm",
        "LGBMRegressor for each quantile, sorted, and for the mean; defaults.",
        reads_frames=True,
    ),
    "realmlp": Contender(
        "RealMLP, conformal",
        "pytabkit_networks:realmlp",
        "pytabkit",
        f"RealMLP_TD_Regressor, tuned defaults, n_cv=5 (the mean of five networks). {_LEFT_OUT}",
    ),
    "realmlp-quantiles": Contender(
        "RealMLP quantiles, conformal",
        "pytabkit_networks:realmlp_quantiles",
        "pytabkit",
        "RealMLP_TD_Regressor, tuned defaults, multi_pinball of all quantiles as in its manual, "
        f"n_cv=5; the mean is that of its quantiles. {_LEFT_OUT}",
    ),
    "tabm": Contender(
        "TabM, conformal",
        "pytabkit_networks:tabm",
        "pytabkit",
        "TabM_D_Regressor, n_cv=5, batches as in its paper (batch_size='auto') and layers of 128, "
        f"not 512, to fit in about a minute; defaults otherwise. {_LEFT_OUT}",
    ),
    "honest-forest": Contender(
        "econml honest forest",
        "honest_forest:fit",
        "econml",
        "RegressionForest, defaults but 1000 trees; prediction intervals from residuals of rows "
        "out of bag.",
        "asymptotic: bags of little bootstraps",
    ),
    "bart": Contender(
        "BART",
        "bart:fit",
        "stochtree",
        "BARTModel, 200 trees, constant noise, defaults but 1000 draws after 10 grown forests.",
        "credible interval: quantiles of the sampled means",
    ),
}
