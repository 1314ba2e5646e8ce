"""The text of a log record, as a run's log shows it."""

import logging
import traceback


def text_of(record: logging.LogRecord) -> str:
    """The message, and the traceback below it."""
    text = record.getMessage()
    if record.exc_info and record.exc_info[0] is not None:
        text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    return text
