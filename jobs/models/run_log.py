"""What runs have logged and printed."""

from django.db import models


class RunLogChunk(models.Model):
    """Lines of one attempt. `seq` is the number of the last one; jobs/run_logs/lines.py explains it.

    Chunks keep rows and indexes few: ten million lines are some hundred thousand rows.
    """

    pk = models.CompositePrimaryKey("execution_id", "seq")
    # Written and deleted together with its Execution, by SQL alone.
    execution_id = models.UUIDField()
    seq = models.BigIntegerField()
    first_seq = models.BigIntegerField()
    # The highest level of these lines.
    level = models.SmallIntegerField()
    size = models.IntegerField()
    lines = models.TextField()

    class Meta:
        db_table = "run_logs"

    def __str__(self) -> str:
        return f"{self.execution_id} {self.first_seq}-{self.seq}"
