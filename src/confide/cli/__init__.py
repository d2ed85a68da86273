"""The `confide` command: thin, one file a subcommand."""

import click

from confide.cli.demo import demo
from confide.cli.experiment import experiment


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Example:
  confide demo""",
)
@click.version_option(package_name="confide")
def main() -> None:
    """Confident neural-network regression.

    A prediction with a confidence interval for the true function, a prediction interval for a new
    observation, and a split of where the uncertainty comes from.
    """


main.add_command(demo)
main.add_command(experiment)
