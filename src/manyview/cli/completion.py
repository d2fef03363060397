"""``manyview completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import click

_HOW = """\b
Use:
  bash:  manyview completion bash >> ~/.bashrc
  zsh:   manyview completion zsh >> ~/.zshrc
  fish:  manyview completion fish > ~/.config/fish/completions/manyview.fish
"""


@click.command(name="completion", epilog=_HOW)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands and options in a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click knows these three
    root = click.get_current_context().find_root().command
    complete = kind(root, {}, "manyview", "_MANYVIEW_COMPLETE")
    # The script alone: asking bash for its version, as source() does, would need bash here.
    click.echo(complete.source_template % complete.source_vars())
