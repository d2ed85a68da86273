"""`confide completion`: what a shell needs to complete commands, options and column names."""

import click
from click.shell_completion import get_completion_class

from confide.cli.session import messages

WHERE = {
    "bash": "confide completion bash > ~/.local/share/bash-completion/completions/confide",
    "zsh": 'confide completion zsh > "${fpath[1]}/_confide"',
    "fish": "confide completion fish > ~/.config/fish/completions/confide.fish",
}


@click.command(epilog="\b\nExamples:\n  " + "\n  ".join(WHERE.values()))
@click.argument("shell", type=click.Choice(list(WHERE)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and column names in SHELL."""
    root = ctx.find_root()
    script = get_completion_class(shell)
    if script is None:  # pragma: no cover
        raise click.ClickException(f"This version of click does not complete for {shell}.")
    with messages():
        click.echo(script(root.command, {}, "confide", "_CONFIDE_COMPLETE").source())
