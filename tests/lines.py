"""Lines that several processes append to one file."""

import os


def write_line(path: str, text: object) -> None:
    """Writes a line at once, so that lines of several processes do not mix."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{text}\n".encode())
    finally:
        os.close(file)
