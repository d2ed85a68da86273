"""Colours and names that all pictures share, and shares of variance that are stacked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from confide.diagnostics import WORDS
from confide.prediction import Kind

Row = Float64[np.ndarray, " row"]
# A colour means one thing in all pictures. Most are Okabe and Ito's, which colour-blind readers
# tell apart. Greys are prediction intervals, blues confidence intervals, reds what was observed.
COLOURS = {
    "mean": "#000000",
    "prediction": "#A6A6A6",
    "prediction, thin": "#6B6B6B",
    "confidence": "#56B4E9",
    # Dark upon light: the method's own confidence interval, and one that is moved for its bias.
    "own": "#0072B2",
    "biased": "#0072B2",
    "observed": "#D55E00",
    "trained on": "#8F3F00",
    "aleatoric": "#E69F00",
    "classical": "#009E73",
    "optimisation": "#CC79A7",
    "epistemic": "#66A61E",
    "novel": "#A6761D",
    "ordinary": "#DFC9A0",
    "nominal": "#444444",
}
SOURCES = {source: f"{words} ({source})" for source, words in WORDS.items()}
SOURCES["epistemic"] = "finite data and random training (epistemic)"
UNBIASED, BIASED = "no bias beyond chance", "bias beyond chance"
BY_PREDICTION = "rows, sorted by prediction"


def interval_name(kind: Kind, confidence_level: float, *, calibrated: bool = False) -> str:
    """What the legend calls an interval.

    Example:
        >>> interval_name("confidence", 0.9, calibrated=True)
        '90 % confidence interval, calibrated'
    """
    name = f"{100 * confidence_level:g} % {kind} interval"
    return f"{name}, calibrated" if calibrated else name


@dataclass(frozen=True, eq=False)
class Share:
    """The share of one source in each row's variance, and where it lies in the stack."""

    source: str
    start: Row
    end: Row


def stacked(shares: Mapping[str, Row]) -> tuple[Share, ...]:
    """Shares one upon the other, in their order.

    Example:
        >>> noise, rest = stacked({"aleatoric": np.array([0.75]), "epistemic": np.array([0.25])})
        >>> rest.start.tolist(), rest.end.tolist()
        ([0.75], [1.0])
    """
    n_rows = len(next(iter(shares.values())))
    edges = np.cumsum([np.zeros(n_rows), *shares.values()], axis=0)
    return tuple(Share(source, edges[k], edges[k + 1]) for k, source in enumerate(shares))
