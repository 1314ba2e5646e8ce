"""The time by which schedules are judged is the database's: hosts whose clocks differ agree on it."""

from datetime import datetime
from typing import cast

from jobs.sql import call


def database_now() -> datetime:
    return cast(datetime, call.rows("SELECT clock_timestamp()")[0][0])
