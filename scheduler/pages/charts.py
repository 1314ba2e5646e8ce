"""Draws the trends of the overview: bars and lines in the units of a view box."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from jobs.display import duration
from jobs.pages.permissions import current_user
from scheduler import trends
from scheduler.trends import Step

WIDTH, HEIGHT = 600, 60
DEFAULT_RANGE = "1h"


@dataclass(frozen=True)
class Bar:
    """One step of time: failed runs are stacked on succeeded ones."""

    step: Step
    x: float
    width: float
    done_y: int
    done_height: int
    failed_y: int
    failed_height: int
    address: str


@dataclass(frozen=True)
class Line:
    css: str
    name: str
    path: str


@dataclass(frozen=True)
class Chart:
    title: str
    highest: str
    lines: Sequence[Line]


@require_safe
def charts(request: HttpRequest) -> HttpResponse:
    span = request.GET.get("range", DEFAULT_RANGE)
    span = span if span in trends.RANGES else DEFAULT_RANGE
    role = request.GET.get("role", "").replace("\x00", "") or None
    steps = trends.steps(current_user(request), span, timezone.now(), role)
    context = {
        "span": span,
        "role": role,
        "ranges": list(trends.RANGES),
        "steps": steps,
        "bars": bars(steps, role),
        "highest": max((step.done + step.failed for step in steps), default=0),
        "done": sum(step.done for step in steps),
        "failed": sum(step.failed for step in steps),
        "charts": [chart for chart in line_charts(steps) if any(line.path for line in chart.lines)],
    }
    return render(request, "scheduler/charts.html", context)


def bars(steps: Sequence[Step], role: str | None = None) -> list[Bar]:
    """The highest step fills the chart."""
    highest = max((step.done + step.failed for step in steps), default=0) or 1
    width = WIDTH / max(1, len(steps))
    chart = []
    for index, step in enumerate(steps):
        failed = bar_height(step.failed, highest)
        done = min(bar_height(step.done, highest), HEIGHT - failed)
        chart.append(
            Bar(
                *(step, round(index * width, 2), round(width * 0.8, 2)),
                *(HEIGHT - done, done, HEIGHT - done - failed, failed),
                runs_of(step, role),
            )
        )
    return chart


def bar_height(number: int, highest: int) -> int:
    """The height of a bar: at least two units, so that one failure among thousands stays visible."""
    return max(2, round(HEIGHT * number / highest)) if number else 0


def runs_of(step: Step, role: str | None) -> str:
    """The list of the runs of this time."""
    since, until = (f"{timezone.localtime(at):%Y-%m-%dT%H:%M}" for at in (step.start, step.end))
    query = urlencode({"range": "custom", "since": since, "until": until} | ({"role": role} if role else {}))
    return f"{reverse('scheduler:runs')}?{query}"


def line_charts(steps: Sequence[Step]) -> list[Chart]:
    return [
        _times(_("Wait before the start"), steps, lambda step: step.wait_p50, lambda step: step.wait_p95),
        _times(_("Duration of a run"), steps, lambda step: step.run_p50, lambda step: step.run_p95),
        _queue(steps),
    ]


def _times(
    title: str,
    steps: Sequence[Step],
    median: Callable[[Step], float | None],
    high: Callable[[Step], float | None],
) -> Chart:
    highest = max((value for step in steps if (value := high(step)) is not None), default=0.0)
    lines = [
        Line("p95", "p95", path_of([high(step) for step in steps], highest)),
        Line("p50", "p50", path_of([median(step) for step in steps], highest)),
    ]
    return Chart(title, duration(highest / 1000), lines)


def _queue(steps: Sequence[Step]) -> Chart:
    highest = max((step.queued or 0 for step in steps), default=0)
    values = [None if step.queued is None else float(step.queued) for step in steps]
    return Chart(_("Queue length"), f"{highest:,}", [Line("p95", _("Queued"), path_of(values, highest))])


def path_of(values: Sequence[float | None], highest: float) -> str:
    """A line through the values, interrupted where there is none."""
    width = WIDTH / max(1, len(values))
    path, pen = [], "M"
    for index, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        x, y = (index + 0.4) * width, HEIGHT - (HEIGHT - 2) * value / (highest or 1)
        path.append(f"{pen}{x:.1f} {y:.1f}" + ("h.1" if pen == "M" else ""))
        pen = "L"
    return "".join(path)
