"""The pages of replays and exports: whose they are, what they say, and what can be done there."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from exports import lifecycle, sample
from exports.models import ExportJob, Replay, StreamOutbox
from exports.states import JobType, Status
from jobs import lifecycle as engine
from jobs import redis
from jobs.models import Execution, Worker
from tests.factories import Claimed
from tests.integration import export_tools as tools
from tests.integration.rest_support import forget_counts

pytestmark = pytest.mark.django_db
LOG = "\n".join(sample.event_log(1, title="Final")).encode()


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    forget_counts()
    tools.roots(settings, tmp_path)


@pytest.fixture
def minji():
    return tools.user()


def reader(user) -> Client:
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(user)
    return client


@pytest.fixture
def page(minji):
    return reader(minji)


def export(minji, job_type: JobType = JobType.MP4, **changes: Any) -> ExportJob:
    job = tools.export_of(minji, job_type)
    if changes:
        ExportJob.objects.filter(pk=job.pk).update(**changes)
        job.refresh_from_db()
    return job


def finished(minji, job_type: JobType = JobType.MP4, content: bytes = b"film" * 9) -> ExportJob:
    job = tools.export_of(minji, job_type)
    path = settings.DURE_EXPORT_PATH.joinpath(*job.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    ExportJob.objects.filter(pk=job.pk).update(
        status=Status.SUCCEEDED,
        progress=100,
        started_at=timezone.now(),
        ended_at=timezone.now(),
        result_uri="/".join(job.output),
        result_checksum=hashlib.sha256(content).hexdigest(),
        result_size=len(content),
    )
    return ExportJob.objects.get(pk=job.pk)


def running(minji, heard_seconds_ago: float = 1, **changes: Any) -> ExportJob:
    now = timezone.now()
    StreamOutbox.objects.all().delete()
    job = export(
        minji,
        status=Status.RUNNING,
        progress=40,
        phase="RENDERING",
        started_at=now - timedelta(seconds=20),
        heard_at=now - timedelta(seconds=heard_seconds_ago),
        **changes,
    )
    StreamOutbox.objects.all().delete()
    return job


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def addresses(job: ExportJob) -> list[str]:
    return [f"/exports/{job.pk}", f"/exports/replays/{job.replay_id}"]


def actions(job: ExportJob) -> list[str]:
    of_replay = [f"/exports/replays/{job.replay_id}/{verb}" for verb in ("mp4", "thumbnail", "delete")]
    return [f"/exports/{job.pk}/cancel", f"/exports/{job.pk}/again", *of_replay]


# --- Whose they are ------------------------------------------------------------------------------


def test_who_is_not_signed_in_is_asked_to(minji):
    job = export(minji)
    for path in ["/exports", "/exports/replays", f"/exports/parts?id={job.pk}", *addresses(job)]:
        assert Client().get(path)["Location"].startswith("/login?next=/"), path
    for path in actions(job):
        assert Client().post(path)["Location"].startswith("/login"), path
    job.refresh_from_db()
    assert job.status == Status.QUEUED


def test_somebody_elses_is_as_if_it_were_not_there_for_staff_too(minji):
    job = finished(minji)
    for other in (tools.user("mallory"), tools.user("steve", is_staff=True)):
        stranger = reader(other)
        assert {stranger.get(path).status_code for path in addresses(job)} == {404}
        assert {stranger.post(path, {"sure": "yes"}).status_code for path in actions(job)} == {404}
        assert text(stranger, f"/exports/parts?id={job.pk}&as=full").strip() == ""
        for path in ("/exports", "/exports/replays"):
            assert job.replay.title not in text(stranger, path)
    assert ExportJob.objects.count() == 1


def test_a_number_that_no_row_can_have_is_not_found(page):
    for number in (0, 2**63, 10**30):
        assert page.get(f"/exports/{number}").status_code == 404
        assert page.get(f"/exports/replays/{number}").status_code == 404
    assert text(page, f"/exports/parts?id={10**30}&id=x&id=-1").strip() == ""


def test_a_change_needs_a_post_with_its_csrf_token(minji):
    job = export(minji)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(minji)
    for path in actions(job):
        assert strict.get(path).status_code == 405, path
        assert strict.post(path, {"sure": "yes"}).status_code == 403, path
    assert strict.post("/exports/replays", {"file": SimpleUploadedFile("a", LOG)}).status_code == 403
    assert Replay.objects.count() == 1


# --- Uploading ------------------------------------------------------------------------------------


def send(client: Client, content: bytes = LOG, name: str = "match.jsonl", **more: Any):
    return client.post("/exports/replays", {"file": SimpleUploadedFile(name, content)}, **more)


def test_a_replay_is_uploaded_and_its_page_says_what_it_is(page, minji):
    answer = send(page)
    replay = Replay.objects.get()
    assert answer["Location"] == f"/exports/replays/{replay.pk}"
    assert (replay.owner, replay.title, replay.file_name) == (minji, "Final", "match.jsonl")
    shown = text(page, answer["Location"])
    assert "The replay was uploaded." in shown
    assert "event log" in shown
    assert "match.jsonl" in shown


def test_the_script_is_told_where_to_go_and_the_message_waits_there(page):
    answer = send(page, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["next"]) == (201, f"/exports/replays/{Replay.objects.get().pk}")
    assert "The replay was uploaded." in text(page, answer.json()["next"])


def test_what_the_api_refuses_is_refused_here_with_its_reason(page):
    lines = LOG.decode().split("\n")
    broken = "\n".join([*lines[:3], '{"tick": "x"}']).encode()
    for content, said in ((b"GIF89a", "neither an event log nor"), (broken, "ine 4"), (b"", "neither an")):
        answer = send(page, content)
        assert answer.status_code == 400
        assert said in answer.content.decode()
        assert 'role="alert"' in answer.content.decode()
    long = page.post("/exports/replays", {"file": SimpleUploadedFile("a", LOG), "title": "x" * 201})
    assert long.status_code == 400
    assert page.post("/exports/replays", {"title": "no file"}).status_code == 400
    assert not Replay.objects.exists()


def test_a_full_disk_is_told(page, monkeypatch):
    with tools.no_file_larger_than(100):
        answer = send(page)
    assert answer.status_code == 400
    assert "no space left" in answer.content.decode()


def test_a_file_name_and_a_title_can_do_no_harm(page):
    send(page, b"".join([LOG]), name='"><script>alert(1)</script>.jsonl')
    page.post(
        "/exports/replays",
        {"file": SimpleUploadedFile("a.jsonl", LOG), "title": "<img src=x onerror=alert(1)>\u202e"},
    )
    replay = Replay.objects.latest("pk")
    job = lifecycle.request(replay, JobType.MP4, timezone.now())
    for path in ("/exports/replays", f"/exports/replays/{replay.pk}", "/exports", f"/exports/{job.pk}"):
        shown = text(page, path)
        assert "<img src=x" not in shown
        assert "<script>alert" not in shown
        assert "\u202e" not in shown


# --- Asking, cancelling, asking again ---------------------------------------------------------------


@pytest.mark.parametrize(("kind", "job_type"), [("mp4", JobType.MP4), ("thumbnail", JobType.THUMBNAIL)])
def test_an_export_is_asked_for_as_by_the_api(page, minji, kind, job_type):
    replay = tools.replay_of(minji)
    answer = page.post(f"/exports/replays/{replay.pk}/{kind}")
    job = ExportJob.objects.get()
    assert answer["Location"] == f"/exports/{job.pk}"
    assert (job.job_type, job.status) == (job_type, Status.QUEUED)
    assert StreamOutbox.objects.get().fields["jobId"] == str(job.pk)
    assert "The export was asked for." in text(page, answer["Location"])
    assert page.post(f"/exports/replays/{replay.pk}/gif").status_code == 404


def test_a_cancel_is_final_and_a_second_one_says_so(page, minji):
    job = export(minji)
    first = page.post(f"/exports/{job.pk}/cancel", follow=True).content.decode()
    assert "The export was cancelled." in first
    job.refresh_from_db()
    assert job.status == Status.CANCELLED
    assert "Started" not in first
    again = page.post(f"/exports/{job.pk}/cancel", follow=True).content.decode()
    assert "has ended already" in again


def test_what_failed_is_asked_for_again_as_a_new_export(page, minji):
    now = timezone.now()
    job = export(minji, JobType.THUMBNAIL, status=Status.FAILED, ended_at=now, error_code="STALLED")
    answer = page.post(f"/exports/{job.pk}/again")
    new = ExportJob.objects.latest("pk")
    assert answer["Location"] == f"/exports/{new.pk}"
    assert (new.job_type, new.replay_id, new.status) == (job.job_type, job.replay_id, Status.QUEUED)
    job.refresh_from_db()
    assert job.status == Status.FAILED


def test_what_is_still_being_made_is_not_made_twice(page, minji):
    job = export(minji)
    assert "has not ended yet" in page.post(f"/exports/{job.pk}/again", follow=True).content.decode()
    assert ExportJob.objects.count() == 1


def test_a_replay_goes_with_its_exports_after_a_question(page, minji):
    job = finished(minji)
    file = settings.DURE_EXPORT_PATH.joinpath(*job.output)
    asked = page.post(f"/exports/replays/{job.replay_id}/delete").content.decode()
    assert "With it goes 1 export and its file." in asked
    assert file.exists()
    answer = page.post(f"/exports/replays/{job.replay_id}/delete", {"sure": "yes"})
    assert answer["Location"] == "/exports/replays"
    assert not ExportJob.objects.exists()


def test_a_replay_whose_export_is_being_made_stays(page, minji):
    job = export(minji)
    answer = page.post(f"/exports/replays/{job.replay_id}/delete", {"sure": "yes"}, follow=True)
    assert "still being made" in answer.content.decode()
    assert Replay.objects.exists()


# --- What is shown ----------------------------------------------------------------------------------


def test_a_finished_film_plays_in_the_page_and_its_address_answers_ranges(page, minji):
    job, picture = finished(minji), finished(minji, JobType.THUMBNAIL)
    ExportJob.objects.filter(pk=picture.pk).update(replay=job.replay)
    shown, file = text(page, f"/exports/{job.pk}"), f"/api/jobs/{job.pk}/result"
    assert f'<video controls preload="metadata" playsinline width="1280" height="720" src="{file}"' in shown
    assert f'poster="/api/jobs/{picture.pk}/result"' in shown
    assert "data-live" not in shown
    part = page.get(file, headers={"Range": "bytes=1-3"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"ilm")


def test_pages_let_films_pictures_and_sockets_come_from_their_own_server_only(page, minji):
    for path in (f"/exports/{finished(minji).pk}", "/exports", "/exports/replays"):
        answer = page.get(path)
        policy = answer["Content-Security-Policy"]
        # What has no directive of its own falls back to this one.
        assert "default-src 'self'" in policy
        assert not {"media-src", "connect-src"} & {part.split()[0] for part in policy.split("; ")}
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http'):
            assert forbidden not in answer.content.decode(), (path, forbidden)


def test_a_thumbnail_is_shown_with_words_for_who_cannot_see_it(page, minji):
    job = finished(minji, JobType.THUMBNAIL)
    title = job.replay.title
    assert f'alt="The most telling moment of “{title}”"' in text(page, f"/exports/{job.pk}")
    assert f'alt="Picture from “{title}”"' in text(page, "/exports")


def test_a_file_that_is_gone_is_not_offered(page, minji):
    job = finished(minji)
    settings.DURE_EXPORT_PATH.joinpath(*job.output).unlink()
    shown = text(page, f"/exports/{job.pk}")
    assert "The file is no longer there." in shown
    assert "<video" not in shown
    assert "Ask for it again" in shown


def test_a_file_that_is_kept_no_longer_is_not_offered_and_can_be_asked_for_again(page, minji):
    job = finished(minji)
    ExportJob.objects.filter(pk=job.pk).update(expired_at=timezone.now())
    shown = text(page, f"/exports/{job.pk}")
    assert "Its file is kept no longer." in shown
    assert "<video" not in shown
    assert "Ask for it again" in shown
    assert "kept no longer" in text(page, "/exports")


@pytest.mark.parametrize(
    ("code", "name", "todo"),
    [
        ("BAD_REPLAY", "the replay cannot be read", "Mend the replay and upload it again."),
        ("STALLED", "nothing was heard from the worker", "Ask for it again."),
        ("GPU_ON_FIRE", "an error of the worker", "who runs it knows what it means"),
    ],
)
def test_a_failure_says_what_happened_and_what_to_do(page, minji, code, name, todo):
    job = export(
        minji,
        status=Status.FAILED,
        ended_at=timezone.now(),
        error_code=code,
        error_message="line 7: <b>no</b> \u202etick",
    )
    shown = text(page, f"/exports/{job.pk}")
    for part in (code, name, todo, "line 7: &lt;b&gt;no&lt;/b&gt; \\u202etick"):
        assert part in shown, part


def test_every_error_of_ours_has_a_name_and_advice():
    from exports.pages import words
    from exports.states import ErrorCode

    assert set(words.ADVICE) == set(ErrorCode.values)


def test_a_bar_says_what_it_is_the_progress_of(page, minji):
    job = running(minji)
    shown = text(page, "/exports")
    label = f"Progress of MP4 video, {job.replay.title}"
    assert f'<progress max="100" value="40" data-part="bar" aria-label="{label}"></progress>' in shown
    assert "rendering" in shown
    assert "about 0:30 left" in shown


def test_words_of_a_foreign_worker_are_shown_harmless(page, minji):
    job = running(minji, message="<script>x</script>\u202e")
    ExportJob.objects.filter(pk=job.pk).update(phase="<i>\u200b")
    shown = text(page, f"/exports/{job.pk}")
    assert "&lt;i&gt;\\u200b" in shown
    assert "&lt;script&gt;x&lt;/script&gt;\\u202e" in shown


# --- What it waits for ------------------------------------------------------------------------------


def said(client: Client, job: ExportJob) -> str:
    """What the page says of an export that waits; the same in the list and on its own page."""
    (one,) = [one for one in client.get("/exports").context["exports"] if one["job"].pk == job.pk]
    standing = client.get(f"/exports/{job.pk}").context["one"]["standing"]
    assert (one["standing"] and str(one["standing"].words)) == (standing and str(standing.words))
    return f"{'late: ' if standing.late else ''}{standing.words}" if standing else ""


def aged(seconds: float) -> None:
    StreamOutbox.objects.update(created_at=timezone.now() - timedelta(seconds=seconds))


def test_while_redis_or_the_listener_is_away_a_request_waits_to_be_sent(page, minji):
    job = export(minji)
    assert said(page, job) == "Is being sent to the workers."
    aged(90)
    assert said(page, job).startswith("late: Waits to be sent: Redis or the listener is away.")
    shown = text(page, "/exports")
    assert "Waits to be sent: Redis or the listener is away." in shown
    assert 'data-live="waits"' in shown


def test_what_was_sent_waits_for_a_worker_to_take_it(page, minji):
    job = export(minji)
    StreamOutbox.objects.all().delete()
    assert said(page, job) == "Was sent; no worker has taken it yet."
    ExportJob.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert said(page, job) == "late: Was sent; no worker has taken it yet."


@pytest.fixture
def taken(minji):
    """An export that our own worker side took, with its run of the engine."""
    job = export(minji)
    StreamOutbox.objects.all().delete()
    assert lifecycle.take(lifecycle.request_message(job)) == ""
    job.refresh_from_db()
    return job


def test_what_was_taken_waits_for_a_free_worker_and_says_when_there_is_none(page, taken):
    assert said(page, taken) == "late: No worker that is alive makes exports: it waits for one."
    now = timezone.now()
    Worker.objects.create(name="w", roles=["FE", "export"], started_at=now, seen_at=now)
    assert said(page, taken) == "Waits for a worker that is free."
    Worker.objects.update(roles=["FE"])
    assert said(page, taken).startswith("late: No worker")
    claimed(taken)
    assert said(page, taken) == "A worker has begun; nothing has been heard from it yet."


def claimed(job: ExportJob) -> Claimed:
    assert job.execution_id is not None
    run = Execution.objects.get(pk=job.execution_id)
    row = engine.claim(str(run.pk), run.dispatch, token="t", worker="w@test")
    assert row is not None
    return Claimed(str(run.pk), row)


def test_a_result_that_could_not_be_sent_is_not_taken_for_silence(page, taken):
    claimed(taken).fail(failure_type="invalid_args", error="BAD_REPLAY: no")
    assert said(page, taken) == "Its worker has ended; the result is being sent."
    aged(30)
    assert said(page, taken).startswith("late: Its worker has ended; the result waits to be sent")
    StreamOutbox.objects.all().delete()
    assert said(page, taken) == "Its worker has ended; the result is on its way."


def test_silence_is_told_before_and_after_it_should_have_ended_the_export(page, minji):
    assert said(page, running(minji, heard_seconds_ago=2)) == ""
    assert said(page, running(minji, heard_seconds_ago=25)) == "late: Nothing has been heard from its worker."
    longer = settings.DURE_EXPORT_STALL_SECONDS * 2 + 1
    assert "the listener that should have noticed" in said(page, running(minji, heard_seconds_ago=longer))


@pytest.fixture
def redis_away(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    redis.client.cache_clear()
    yield
    redis.client.cache_clear()


def test_with_redis_away_one_looks_asks_and_cancels_all_the_same(
    page, minji, redis_away, django_capture_on_commit_callbacks
):
    job = export(minji)
    for path in ("/exports", f"/exports/{job.pk}", f"/exports/parts?id={job.pk}", "/exports/replays"):
        assert page.get(path).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        asked = page.post(f"/exports/replays/{job.replay_id}/mp4", follow=True)
        cancelled = page.post(f"/exports/{job.pk}/cancel", follow=True)
    assert "Is being sent to the workers." in asked.content.decode()
    assert "The export was cancelled." in cancelled.content.decode()


# --- The lists ---------------------------------------------------------------------------------------


def ids(answer: Any) -> list[int]:
    return [one["job"].pk for one in answer.context["exports"]]


def test_the_filter_is_in_the_address(page, minji):
    a, b, c = export(minji), export(minji, JobType.THUMBNAIL), export(minji)
    lifecycle.cancel(a.pk, timezone.now())
    assert ids(page.get("/exports")) == [c.pk, b.pk, a.pk]
    assert ids(page.get("/exports?kind=MP4")) == [c.pk, a.pk]
    assert ids(page.get("/exports?kind=MP4&state=CANCELLED")) == [a.pk]
    wrong = page.get("/exports?state=odd")
    assert (wrong.status_code, ids(wrong)) == (200, [])
    assert b'role="alert"' in wrong.content


def test_pages_follow_each_other_without_gap_while_exports_come_in(page, minji):
    replay, now = tools.replay_of(minji), timezone.now()
    made = [lifecycle.request(replay, JobType.MP4, now).pk for _ in range(60)]
    found, address = [], "/exports?kind=MP4"
    while True:
        answer = page.get(address)
        found += ids(answer)
        if not answer.context["older"]:
            break
        lifecycle.request(replay, JobType.MP4, now)
        address = "/exports" + answer.context["older"]
    assert found == made[::-1]
    assert "kind=MP4" in answer.context["newer"]
    assert ids(page.get("/exports" + answer.context["newer"])) == made[::-1][25:50]


def test_replays_have_pages_too(page, minji):
    replay = tools.replay_of(minji)
    fields = {
        f.name: getattr(replay, f.name) for f in Replay._meta.fields if f.name not in ("id", "path", "title")
    }
    Replay.objects.bulk_create(Replay(**fields, path=str(n), title=f"r{n}") for n in range(30))
    first = page.get("/exports/replays")
    second = page.get("/exports/replays" + first.context["older"])
    titles = [one.title for answer in (first, second) for one in answer.context["page"].rows]
    assert titles == [*(f"r{n}" for n in range(29, -1, -1)), replay.title]


def test_many_exports_cost_no_more_questions_than_one(page, minji, django_assert_max_num_queries):
    replay, now = tools.replay_of(minji), timezone.now()
    for _ in range(25):
        lifecycle.request(replay, JobType.MP4, now)
    with django_assert_max_num_queries(8):
        page.get("/exports")


def test_parts_are_rows_or_one_in_full(page, minji):
    job = export(minji)
    rows = text(page, f"/exports/parts?as=rows&id={job.pk}")
    full = text(page, f"/exports/parts?as=full&id={job.pk}")
    assert rows.strip().startswith(f'<tr data-export="{job.pk}" data-status="QUEUED"')
    assert full.strip().startswith(f'<div class="stack" data-export="{job.pk}" data-status="QUEUED"')
    assert "csrfmiddlewaretoken" in full


def test_the_menu_leads_there(page):
    assert '<a href="/exports">Exports</a>' in text(page, "/")
    assert "/deadletters" not in text(page, "/")


def test_it_speaks_korean(minji):
    client = Client(headers={"Accept-Language": "ko"})
    client.force_login(minji)
    job = running(minji)
    shown = client.get(f"/exports/{job.pk}").content.decode()
    assert "약 0:30 남음" in shown
    assert "리플레이" in shown
    assert '"RENDERING": "' in client.get("/exports").context["phases"]
