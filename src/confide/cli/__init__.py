"""The `confide` command: thin, one file a subcommand."""

import click

from confide.cli.demo import demo


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="confide")
def main() -> None:
    r"""Confident neural-network regression.

    A prediction with a confidence interval for the true function, a prediction interval for a new
    observation, and a split of where the uncertainty comes from.

    \b
    Example:
      confide demo
    """


main.add_command(demo)
