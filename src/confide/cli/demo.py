"""`confide demo`: the main job on data that is on every machine."""

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from confide.cli import arguments
from confide.cli.pictures import write_picture
from confide.cli.session import messages, say, starting, stop_if_asked

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

    from confide.prediction import Prediction

LEVEL = 0.9


@click.command(
    epilog="""\b
Examples:
  confide demo
  confide demo --members 20 --output picture.svg"""
)
@arguments.output_option(
    "confide-demo.png",
    "File for the picture; its ending chooses the format (png, svg, pdf).",
)
@arguments.count_option("--members", 5, 2, "Number of networks.")
@arguments.seed_option
def demo(output: Path, members: int, seed: int) -> None:
    """Fit the bundled diabetes data and look at the intervals.

    Trains on four fifths of 442 patients, shows some of the others with both intervals and the
    sources of their uncertainty, and draws a picture.
    """
    arguments.refuse_output(output, endings=arguments.PICTURES)
    with messages():
        # Imported here, so that `confide --help` answers at once.
        with starting():
            from rich.console import Console
            from sklearn.datasets import load_diabetes
            from sklearn.model_selection import train_test_split

            from confide import BootstrappedDeepEnsembleRegressor
            from confide.persistence import atomic_file

        data = load_diabetes(as_frame=True)
        X_train, X_test, y_train, y_test = train_test_split(
            data.data, data.target.to_numpy(), test_size=0.2, random_state=1
        )
        model = BootstrappedDeepEnsembleRegressor(
            n_members=members, random_state=seed, verbose=True
        )
        with atomic_file(output) as file:
            prediction = model.fit(X_train, y_train).get_prediction(X_test)
            console = Console()
            console.print(_table(prediction, y_test))
            console.print(_coverage(prediction, y_test))
            stop_if_asked()
            _draw(prediction, y_test, file, output)
        say("", f"Picture: {output.resolve()}", err=True)
        console = Console(stderr=True)
        console.print(
            "Next, in Python: [bold]from confide import BootstrappedDeepEnsembleRegressor[/bold], "
            "then fit your own X and y and call predict_interval(X, kind='confidence')."
        )


def _table(prediction: "Prediction", y: "np.ndarray") -> "Table":
    import numpy as np
    from rich.table import Table

    table = Table(
        title=f"Disease progression: some held-out patients, {100 * LEVEL:g} % intervals",
        caption="confidence: for the true function; prediction: for a new patient",
    )
    for heading in (
        "observed", "predicted", "confidence\ninterval", "prediction\ninterval",
        "noise", "finite\ndata", "random\ntraining",
    ):  # fmt: skip
        table.add_column(heading, justify="right", no_wrap=True)
    confidence = prediction.confidence_interval(LEVEL)
    predicted = prediction.prediction_interval(LEVEL)
    order = np.argsort(prediction.mean)
    for i in order[np.linspace(0, len(order) - 1, 8).round().astype(int)]:
        table.add_row(
            f"{y[i]:.0f}",
            f"{prediction.mean[i]:.0f}",
            "{:.0f} to {:.0f}".format(*confidence[i]),
            "{:.0f} to {:.0f}".format(*predicted[i]),
            *(f"{share[i]:.0%}" for share in prediction.shares.values()),
        )
    return table


def _coverage(prediction: "Prediction", y: "np.ndarray") -> str:
    import numpy as np

    lower, upper = prediction.prediction_interval(LEVEL).T
    n_inside, n = int(np.sum((lower <= y) & (y <= upper))), len(y)
    share = n_inside / n
    error = np.sqrt(share * (1 - share) / n)
    rmse = np.sqrt(np.mean((prediction.mean - y) ** 2))
    return (
        f"Held out: {n_inside} of {n} observations lie in their {100 * LEVEL:g} % prediction "
        f"interval ({share:.1%} +/- {error:.1%}, one standard error); RMSE {rmse:.1f}, and the "
        f"target's standard deviation is {np.std(y):.1f}.\nThe coverage of the confidence "
        "intervals cannot be seen here, because the true function is not known. "
        "calibrate_confidence(X, y) calibrates them on simulated twins of the data, whose true "
        "function is known."
    )


def _draw(prediction: "Prediction", y: "np.ndarray", file: BinaryIO, name: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from confide.plot import plot_intervals, plot_split

    figure, (above, below) = plt.subplots(
        2, 1, figsize=(8, 7), sharex=True, height_ratios=(3, 2), layout="constrained"
    )
    plot_intervals(prediction, y=y, confidence_level=LEVEL, ax=above)
    above.set_xlabel("")
    above.set_ylabel("disease progression")
    above.set_title("Diabetes: held-out patients with both intervals", loc="left")
    plot_split(prediction, ax=below)
    below.set_title("Where the uncertainty comes from", loc="left")
    write_picture(figure, file, name)
    plt.close(figure)
