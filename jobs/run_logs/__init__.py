"""What runs log and print, kept by attempt.

`capture.py` collects the lines of a body in memory, `writer.py` stores them in batches, and `reading.py`
reads them. A run that says nothing costs a few system calls: no thread, no connection and no row.
"""
