"""Estimated starts and ends of jobs, computed without a database."""

from jobs.insight.forecast import Span, Work, forecast


def work(name: str, seconds: float | None = 10, **more) -> Work:
    more.setdefault("order", (name,))
    return Work(id=name, role=more.pop("role", "FE"), seconds=seconds, **more)


def test_slots_are_filled_in_order():
    spans = forecast([work("c"), work("a"), work("b")], slots=2, role_slots={})
    assert spans == {"a": Span(0, 10), "b": Span(0, 10), "c": Span(10, 20)}


def test_a_role_limit_holds_its_role_only():
    works = [work("a"), work("b"), work("c", role="BE")]
    spans = forecast(works, slots=3, role_slots={"FE": 1})
    assert [spans[name].start for name in "abc"] == [0, 10, 0]


def test_a_role_without_slots_never_starts():
    assert forecast([work("a")], slots=3, role_slots={"FE": 0}) == {}


def test_a_running_job_ends_after_the_rest_of_its_usual_time():
    spans = forecast([work("a", running_for=4.0), work("b")], slots=1, role_slots={})
    assert spans == {"a": Span(-4, 6), "b": Span(6, 16)}


def test_a_run_that_takes_longer_than_usual_may_end_any_moment():
    assert forecast([work("a", running_for=40.0), work("b")], 1, {})["b"] == Span(0, 10)


def test_a_job_starts_after_its_dependencies():
    works = [work("a"), work("b", 30), work("c", parents=["a", "b"]), work("d", parents=["c"])]
    spans = forecast(works, slots=5, role_slots={})
    assert (spans["c"], spans["d"]) == (Span(30, 40), Span(40, 50))


def test_a_job_does_not_start_before_its_time():
    assert forecast([work("a", not_before=25.0)], 1, {}) == {"a": Span(25, 35)}


def test_a_slot_is_not_reserved_for_a_waiting_job():
    spans = forecast([work("a", not_before=5.0), work("b")], slots=1, role_slots={})
    assert spans == {"b": Span(0, 10), "a": Span(10, 20)}


def test_a_job_that_depends_on_an_unknown_end_has_no_estimate():
    works = [work("a", None), work("b"), work("c", parents=["a"])]
    spans = forecast(works, slots=1, role_slots={})
    assert spans == {"a": Span(0, None)}


def test_a_blocked_job_does_not_start():
    works = [work("a", blocked=True), work("b", parents=["a"]), work("c", parents=["elsewhere"])]
    assert forecast(works, 3, {}) == {}


def test_a_paused_office_has_estimates_for_running_jobs_only():
    spans = forecast([work("a", running_for=1.0), work("b")], 3, {}, paused=True)
    assert spans == {"a": Span(-1, 9)}
