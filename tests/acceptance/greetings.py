"""The Task of docs/tutorial.md, as it stands there."""

from tests.acceptance.shell import command_blocks

for block in command_blocks("docs/tutorial.md", "python"):
    exec(block)
