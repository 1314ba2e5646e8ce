"""What the command prints: tables, records and logs, or JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from dure.cli.arguments import DONE, FAILED, Options
from dure.client import Client
from dure.job_records import Job
from dure.record import Record, Work
from dure.records import Execution, LogLine


def write_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)


def write_list(options: Options, records: Sequence[Record], columns: Sequence[str]) -> int:
    if options.json:
        write_json([record.raw for record in records])
        return DONE
    rows = [list(columns), *([_cell(getattr(record, name)) for name in columns] for record in records)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(columns))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return DONE


def write_record(options: Options, record: Record, names: Sequence[str] = ()) -> int:
    """Prints these fields, or all; what is empty is left out."""
    names = names or [each.name for each in fields(record) if each.name != "raw"]
    if options.json:
        write_json(record.raw)
        return DONE
    width = max(map(len, names))
    for name in names:
        if (value := getattr(record, name)) not in (None, "", [], {}):
            print(f"{name.ljust(width)}  {_cell(value)}")
    return DONE


def write_text(options: Options, text: str, value: Any) -> int:
    """Prints the text, or this value as JSON."""
    if options.json:
        write_json(value)
    elif text:
        print(text)
    return DONE


def write_log(options: Options, lines: Iterable[LogLine]) -> None:
    for line in lines:
        if options.json:
            write_json(line.raw)
        else:
            at = line.at.astimezone().strftime("%H:%M:%S")
            print(f"{at} {line.level:<8} {printable(line.message)}", flush=True)


def write_end(options: Options, client: Client, work: Work, names: Sequence[str]) -> int:
    """Prints what was started, after its log and its end if the options ask for them."""
    if getattr(options, "follow", False) and isinstance(work, Job | Execution):
        write_log(options, client.follow(work))
    elif not options.wait:
        return write_record(options, work, names)
    ended = client.wait(work, options.timeout)
    write_record(options, ended, names)
    return DONE if ended.succeeded else FAILED


def printable(text: str) -> str:
    """Text of others must not control the terminal."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else repr(character)[1:-1]
        for character in text
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
