"""The `confide` command: thin, one file a subcommand."""

import click

from confide.cli.check import check
from confide.cli.completion import completion
from confide.cli.demo import demo
from confide.cli.experiment import experiment
from confide.cli.export import export
from confide.cli.fit import fit
from confide.cli.inspect import inspect
from confide.cli.predict import predict
from confide.cli.report import report
from confide.cli.session import Commands


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  confide demo
  confide fit houses.csv --target price
  confide report model.confide houses.csv
  confide predict model.confide new.csv -o predicted.csv
  confide check houses.csv --target price
  confide export model.confide model.onnx""",
)
@click.version_option(package_name="confide")
def main() -> None:
    """Confident neural-network regression.

    A prediction with a confidence interval for the true function, a prediction interval for a new
    observation, and a split of where the uncertainty comes from.
    """


for command in (demo, fit, predict, report, check, inspect, export, experiment, completion):
    main.add_command(command)
