"""A job and its next neighbours, drawn as in the graph of its batch."""

from collections.abc import Sequence

from jobs.insight.progress import Node
from jobs.models import Dependency, Job
from jobs.pages.graph_drawing import Drawing, draw

# On each side; a list beside the drawing has more of them.
DRAWN = 6


def neighbourhood(job: Job, parents: Sequence[Job], children: Sequence[Job]) -> Drawing | None:
    """None where there is nothing but the job itself."""
    if not parents and not children:
        return None
    nodes = [node_of(one) for one in (*parents[:DRAWN], job, *children[:DRAWN])]
    found: dict[str, list[str]] = {node.id: [] for node in nodes}
    edges = Dependency.objects.filter(job__in=list(found), parent__in=list(found)).order_by("position")
    for child, parent in edges.values_list("job_id", "parent_id"):
        found[str(child)].append(str(parent))
    return draw(nodes, found, [str(job.id)])


def node_of(job: Job) -> Node:
    return Node(str(job.id), job.ref, job.task_id, job.role, job.status, job.started_at, job.completed_at)
