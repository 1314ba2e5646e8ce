"""Signed-in clients, and the addresses and texts of pages."""

import re

from django.contrib.auth.models import User
from django.test import Client

from scheduler.steps.models import StepQueue
from tests.factories import a_user


def signed_in(user: User, language: str = "en") -> Client:
    client = Client(headers={"Accept-Language": language})
    client.force_login(user)
    return client


def sign_in(name: str = "alice", language: str = "en", **more) -> Client:
    return signed_in(a_user(name, **more), language)


def at(office, rest: str = "/jobs") -> str:
    return f"/offices/{office.id}{rest}"


def at_queue(queue: StepQueue, rest: str = "") -> str:
    return f"/step-queues/{queue.queue_id}{rest}"


def page_text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def text_of(answer) -> str:
    return str(answer.content.decode())


def field_error(answer, field: str) -> str:
    """The error text of a field."""
    match = re.search(rf'<p [^>]*id="why-{field}"[^>]*>(.*?)</p>', text_of(answer), re.DOTALL)
    assert match is not None, field
    return match[1].strip().replace("&#x27;", "'").replace("&quot;", '"')
