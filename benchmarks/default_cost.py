"""What a fit with the default recipe costs: against the paper's recipe and another ensemble.

Everything that a default fit does is timed: folds that choose, noise, members, bootstrap; the twins
that calibrate confidence intervals where it is said. All fits are of one process, the first of each
kind is not counted, because it compiles, and the median of the others is. sklearn-contrib-bde has
the settings of its manual's example. The share of the peak counts the matrix products of the layers
alone, over the rate of a large product of matrices, and is a lower bound. Run it on an idle
machine. Tables go to stdout, progress to stderr.

    pip install 'confide[peers]'
    python benchmarks/default_cost.py --most-rows 100000
"""

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from speed.child import synthetic_table
from speed.flops import matrix_multiply_peak
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor
from confide.learners import plain_networks

SMALL, MIDDLE = (404, 13), (2_000, 10)
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PEAK_SIZE, PEAK_REPEATS = 2_000, 5


def estimator(**how: Any) -> BootstrappedDeepEnsembleRegressor:
    """The default, or one of its parts."""
    return BootstrappedDeepEnsembleRegressor(**{"calibration": None, "random_state": 0, **how})


def seconds(work: Callable[[], Any], n_turns: int) -> list[float]:
    """Those of some calls after a first one."""
    found = []
    for turn in range(n_turns + 1):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
        print(f"{turn}: {found[-1]:.2f} s", file=sys.stderr, flush=True)
    return found[1:]


def against_others(shape: tuple[int, int], n_turns: int) -> None:
    """The default beside the paper's recipe and sklearn-contrib-bde."""
    X, y = synthetic_table(*shape)
    kinds: dict[str, Callable[[], Any]] = {
        "recipe paper": lambda: estimator(recipe="paper").fit(X, y),
        "default, not calibrated on twins": lambda: estimator().fit(X, y),
        "default": lambda: estimator(calibration="recipe").fit(X, y),
    }
    try:
        from comparison.adapters import bayesian_ensemble
    except ImportError as error:
        print(f"sklearn-contrib-bde is left out: {error}", file=sys.stderr)
    else:
        kinds["sklearn-contrib-bde"] = lambda: bayesian_ensemble.fit(X, y, seed=0)
    medians = {name: np.median(seconds(work, n_turns)) for name, work in kinds.items()}
    print(f"\n{shape[0]:,} rows, {shape[1]} columns:\n")
    print("| fit | median s | over the paper's recipe |\n| --- | ---: | ---: |")
    for name, median in medians.items():
        print(f"| {name} | {median:.3g} | {median / medians['recipe paper']:.3g} |", flush=True)


def share_of_peak(n_turns: int) -> None:
    """Matrix products of members and their bootstrap, over the machine's best rate."""
    X, y = synthetic_table(*MIDDLE)
    model = estimator(dropout=0.0, smooth=False, max_epochs=40).fit(X, y)
    fitted = model.fitted_
    networks = plain_networks(fitted.learner, fitted.members, X.shape[1])
    products = [weight[0].size for weight, _ in networks.layers]
    per_row = 2 * (3 * sum(products) - products[0])
    work = model.member_epochs(X.shape[1]) * len(X) * per_row
    best = min(seconds(lambda: estimator(**model.get_params()).fit(X, y), n_turns))
    peak = max(matrix_multiply_peak(PEAK_SIZE, PEAK_REPEATS).values())
    share = work / best / 1e9 / peak
    print(
        f"\nAt {len(X):,} x {X.shape[1]} with nothing to choose, a fit has {work / best / 1e9:.3g} "
        f"GFLOP/s in matrix products, {100 * share:.3g} % of the machine's {peak:.3g}. Rows that "
        "are left out are counted as if they were trained on.",
        flush=True,
    )


def by_rows(most_rows: int) -> None:
    """Seconds of a fit to more and more rows, without calibration on twins."""
    print("\n| rows | s | exponent |\n| ---: | ---: | ---: |")
    sizes = [n for n in ROWS if n <= most_rows]
    found = []
    for n_rows in sizes:
        X, y = synthetic_table(n_rows, MIDDLE[1])
        found += seconds(lambda X=X, y=y: estimator().fit(X, y), 1)
    growth = (
        np.log(b / a) / np.log(m / n)
        for (a, b), (n, m) in zip(itertools.pairwise(found), itertools.pairwise(sizes), strict=True)
    )
    for n_rows, taken, exponent in zip(
        sizes, found, ["", *map("{:.2f}".format, growth)], strict=True
    ):
        print(f"| {n_rows:,} | {taken:.3g} | {exponent} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints all parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=5, help="fits of each kind that count")
    parser.add_argument("--most-rows", type=int, default=ROWS[-1])
    options = parser.parse_args(arguments)
    print(f"# What the default costs\n\n{provenance()}")
    for shape in (SMALL, MIDDLE):
        against_others(shape, options.turns)
    share_of_peak(options.turns)
    by_rows(options.most_rows)


if __name__ == "__main__":
    main()
