"""Freezes SQL for migrations: each runs a copy that never changes, not today's file.

An app's folder `migrations/sql` holds the copies. The first line of each names the file it was copied from.
"""

from dataclasses import dataclass
from pathlib import Path

from jobs.sql import engine

HEADER = "-- A frozen copy of {}\n"
MIGRATION = """from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent / "sql" / "{name}.sql"


class Migration(migrations.Migration):
    dependencies = [("{app}", "{previous}")]
    operations = [migrations.RunSQL(SQL.read_text(), migrations.RunSQL.noop)]
"""


@dataclass(frozen=True)
class Frozen:
    """The newest copy in one app's migrations."""

    path: Path
    source: Path
    text: str

    @classmethod
    def newest(cls, app: Path) -> "Frozen | None":
        paths = sorted((app / "migrations" / "sql").glob("*.sql"))
        if not paths:
            return None
        header, _, text = paths[-1].read_text().partition("\n")
        return cls(paths[-1], app.parent / header.rpartition(" ")[2], text)

    @property
    def is_current(self) -> bool:
        return self.text == self.source.read_text()


def write_migration(frozen: Frozen) -> Path:
    """Copy the source to the next number, stamp the engine's version, and write its migration."""
    folder = frozen.path.parents[1]
    previous = max(path.stem for path in folder.glob("0*.py"))
    number = int(previous[:4]) + 1
    name = f"{number:04}_{frozen.path.stem[5:]}"
    if frozen.source == engine.TEXT:
        frozen.source.write_text(engine.STAMP.sub(rf"\g<1>{number}", frozen.source.read_text()))
    source = frozen.source.relative_to(folder.parents[1])
    frozen.path.with_name(f"{name}.sql").write_text(HEADER.format(source) + frozen.source.read_text())
    migration = folder / f"{name}.py"
    migration.write_text(MIGRATION.format(name=name, app=folder.parent.name, previous=previous))
    return migration
