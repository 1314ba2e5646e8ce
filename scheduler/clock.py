"""The clock of schedules is the database's, so that hosts whose clocks differ agree."""

from datetime import datetime
from typing import cast

from jobs.sql import call


def database_now() -> datetime:
    return cast(datetime, call.rows("SELECT clock_timestamp()")[0][0])
