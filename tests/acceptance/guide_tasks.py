"""The Tasks of docs/tutorial.md and docs/tasks.md, as they stand there."""

from tests.acceptance.shell import command_blocks

for page in ("docs/tutorial.md", "docs/tasks.md"):
    for block in command_blocks(page, "python"):
        if "@task(" in block:
            exec(block)
