"""Download links: for anyone who has one, until it expires or is revoked, and for one export only."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from config.logs import LineFormatter
from exports import links, retention
from exports.models import ExportJob, ExportLink
from jobs.states import Act
from tests.integration import export_tools as tools
from tests.integration.exports.outcomes import finished
from tests.integration.pages.clients import page_text, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]
CONTENT = b"film" * 300


@pytest.fixture
def job(minji) -> ExportJob:
    return finished(tools.export_of(minji), CONTENT)


def share(client, job, body=None):
    return client.post(f"/api/jobs/{job.pk}/links", body or {}, content_type="application/json")


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def refused(path: str) -> tuple[int, str]:
    answer = Client().get(path)
    return answer.status_code, answer.json()["code"]


def test_a_visitor_with_the_link_downloads_the_file_without_an_account(client, job) -> None:
    link = share(client, job, {"expiresInSeconds": 3600}).json()
    path = path_of(link["url"])
    answer: Any = Client().get(path)
    assert (answer.status_code, b"".join(answer.streaming_content)) == (200, CONTENT)
    part: Any = Client().get(path, headers={"Range": "bytes=4-7"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"film")
    assert Client().head(path)["Content-Length"] == str(len(CONTENT))
    # Other credentials are not read, not even wrong ones.
    assert Client().get(path, headers={"Authorization": "Token dure_wrong"}).status_code == 200
    assert client.get(f"/api/jobs/{job.pk}/links").json() == {"content": [link]}


def test_a_link_does_not_open_another_export(client, job, minji) -> None:
    other = finished(tools.export_of(minji), b"other")
    path = path_of(share(client, job).json()["url"])
    moved = path.replace(f"/jobs/{job.pk}/", f"/jobs/{other.pk}/")
    assert moved != path and refused(moved) == (404, "link_not_valid")


def test_an_altered_link_is_refused(client, job) -> None:
    first, second = (path_of(share(client, job).json()["url"]) for _ in range(2))
    stem, _, token = first.rpartition("/")
    link_id, _, signature = token.partition(".")
    other_id = second.rpartition("/")[2].partition(".")[0]
    flipped = ("B" if signature[0] == "A" else "A") + signature[1:]
    for wrong in (
        *(f"{other_id}.{signature}", f"{link_id}.{flipped}", f"{link_id}.{signature[:-1]}", f"{link_id}."),
        *(link_id, f"{link_id}.{signature}.{signature}", f"0{link_id}.{signature}"),
        *("x" * 2000, "..%2f..%2fetc"),
    ):
        answer = Client().get(f"{stem}/{wrong}")
        assert answer.status_code == 404, wrong
    assert Client().get(first).status_code == 200


def test_an_expired_link_is_gone(client, job) -> None:
    path = path_of(share(client, job).json()["url"])
    ExportLink.objects.update(expires_at=timezone.now())
    assert refused(path) == (410, "link_expired")
    assert client.get(f"/api/jobs/{job.pk}/links").json() == {"content": []}


def test_a_revoked_link_ends_at_once(client, job) -> None:
    link, kept = share(client, job).json(), share(client, job).json()
    assert client.delete(f"/api/jobs/{job.pk}/links/{link['linkId']}").status_code == 204
    assert refused(path_of(link["url"])) == (404, "link_not_valid")
    assert Client().get(path_of(kept["url"])).status_code == 200
    assert client.delete(f"/api/jobs/{job.pk}/links/{link['linkId']}").status_code == 404


def test_links_are_in_the_log_of_the_owner_without_their_text(client, job, minji) -> None:
    link = share(client, job).json()
    client.delete(f"/api/jobs/{job.pk}/links/{link['linkId']}")
    rows = list(minji.activity.order_by("id").values_list("act", "details"))
    facts = {"export": job.pk, "link": link["linkId"]}
    assert rows == [(Act.LINK_CREATED, facts), (Act.LINK_REVOKED, facts)]


def test_a_link_ends_with_the_secret_the_account_and_the_file(client, job, minji, settings) -> None:
    path = path_of(share(client, job).json()["url"])
    minji.is_active = False
    minji.save()
    assert refused(path) == (404, "link_not_valid")
    minji.is_active = True
    minji.save()
    settings.DURE_EXPORT_PATH.joinpath(*job.output).unlink()
    assert refused(path) == (404, "file_gone")
    job.result_uri = "../../etc/passwd"
    job.save()
    assert refused(path) == (400, "outside_export_root")


def test_a_change_of_the_secret_key_ends_all_links(job, settings) -> None:
    link = links.create(job, links.DEFAULT_AGE, timezone.now())
    token = links.token_of(link)
    assert links.open_shared(job.pk, token, timezone.now()) == job
    settings.SECRET_KEY = "another-key-" * 5
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(links.NotValid):
        links.open_shared(job.pk, token, timezone.now())


@pytest.mark.parametrize("age", [0, 59, 30 * 86_400 + 1, -1, "60", 60.5, None, True])
def test_a_bad_age_is_refused_and_writes_nothing(client, job, age) -> None:
    answer = share(client, job, {"expiresInSeconds": age})
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"expiresInSeconds"})
    assert not ExportLink.objects.exists()


def test_only_an_export_with_a_file_is_shared_and_not_without_limit(client, job, minji) -> None:
    waiting = tools.export_of(minji)
    assert share(client, waiting).json()["code"] == "no_file_to_share"
    for _ in range(links.MAX_LINKS):
        assert share(client, job).status_code == 201
    answer = share(client, job)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_links")
    assert ExportLink.objects.count() == links.MAX_LINKS


def test_a_token_is_in_no_line_of_the_log(client, job) -> None:
    """Whatever a logger writes about the address, as at each refused request."""
    path = path_of(share(client, job).json()["url"])
    signature = path.rpartition(".")[2]
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(LineFormatter("%(message)s").format(record))

    handler, root, loggers = Lines(), logging.getLogger(), ("django.request", "django.server", "uvicorn")
    levels = {name: logging.getLogger(name).level for name in ("", *loggers)}
    root.addHandler(handler)
    try:
        for name in levels:
            logging.getLogger(name).setLevel(logging.DEBUG)
        Client().get(path)
        ExportLink.objects.update(expires_at=timezone.now() - timedelta(days=1))
        assert refused(path) == (410, "link_expired")
        logging.getLogger("uvicorn").info('"GET %s HTTP/1.1" 410', path)
    finally:
        root.removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
    assert any("/shared/***" in line for line in lines)
    assert not any(signature in line for line in lines)


def test_links_are_pruned_with_their_expiry_and_before_their_export(job, minji, settings) -> None:
    now = timezone.now()
    links.create(job, timedelta(minutes=1), now - timedelta(hours=1))
    kept = links.create(job, links.DEFAULT_AGE, now)
    assert retention.prune(now)["links"] == 1
    assert list(ExportLink.objects.all()) == [kept]
    long_ago = now - timedelta(days=settings.DURE_EXPORT_RETENTION_DAYS + 1)
    ExportJob.objects.filter(pk=job.pk).update(ended_at=long_ago, expired_at=now - timedelta(days=2))
    done = retention.prune(now)
    assert (done["links"], done["deleted"]) == (1, 1)


def test_the_page_makes_shows_and_revokes_links(job, minji) -> None:
    page = signed_in(minji)
    assert page.post(f"/exports/{job.pk}/links", {"hours": 24})["Location"] == f"/exports/{job.pk}"
    (link,) = ExportLink.objects.all()
    assert link.expires_at - link.created_at == timedelta(days=1)
    assert links.url_of(link) in page_text(page, f"/exports/{job.pk}")
    page.post(f"/exports/{job.pk}/links", {"hours": 5})
    assert ExportLink.objects.count() == 1
    page.post(f"/exports/{job.pk}/links/{link.pk}/revoke")
    assert not ExportLink.objects.exists()
    assert page.post(f"/exports/{job.pk}/links/{link.pk}/revoke").status_code == 404
