"""A Task that only the test of modules that are loaded late knows."""

from dure import Context, task


@task("test.echo_of_a_module", role="QA")
def echo(ctx: Context, text: str) -> str:
    """Returns its text."""
    return text
