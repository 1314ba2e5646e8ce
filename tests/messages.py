"""Records messages instead of publishing them."""

from collections.abc import Sequence

import pytest

from jobs.publish import Send


def record_messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Executions whose messages would be published from now on."""
    messages: list[str] = []

    def send(sends: Sequence[Send], early: bool = False) -> bool:
        messages.extend(each.execution for each in sends)
        return True

    monkeypatch.setattr("jobs.publish.send_messages", send)
    monkeypatch.setattr("jobs.publish.send_early", lambda message: send([message]))
    monkeypatch.setattr("jobs.publish.has_arrived", lambda answer: answer)
    return messages
