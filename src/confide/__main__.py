"""`python -m confide` is the `confide` command."""

from confide.cli import main

main(prog_name="confide")
