"""Batches: progress, graph, critical path and estimated end."""

from typing import Annotated
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import graph
from jobs.api import examples
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import Flag, read_parameters
from jobs.api.views import OfficeView, get_or_404
from jobs.api_model import AnyOf, ApiOut, Number, Omittable, TextOrNone, Time
from jobs.insight import progress, stats
from jobs.models import Batch
from jobs.states import JobStatus

GRAPH = Flag("graph", "`false` leaves the graph out.", default=True)


class BatchProgressOut(ApiOut):
    total: int
    by_status: dict[str, int] = Field(description="Number of jobs in each state.")
    percent: Number = Field(description="Share of the jobs that have ended, in whatever state.")


class SubmittedBatchOut(ApiOut):
    id: UUID
    name: TextOrNone
    created_at: Time


@extend_schema_serializer(examples=[in_response("half of it is done", examples.HALF_DONE)])
class BatchOut(SubmittedBatchOut):
    ended_at: Time | None = Field(description="Time at which its last job ended.")
    progress: BatchProgressOut


class NodeOut(ApiOut):
    id: UUID
    ref: TextOrNone
    task_id: str
    role: str
    status: Annotated[str, AnyOf(JobStatus.choices)]
    level: int = Field(description="Length of the longest path from a root.")
    started_at: Time | None
    completed_at: Time | None


class EdgeOut(ApiOut):
    parent: UUID = Field(serialization_alias="from", description="The dependency.")
    child: UUID = Field(serialization_alias="to", description="The job that waits for it.")


class GraphOut(ApiOut):
    edges: list[EdgeOut]
    nodes: list[NodeOut]


class PathOut(ApiOut):
    jobs: list[UUID] = Field(description="In order.")
    seconds: Number = Field(
        description="Their run times; for unfinished jobs, the usual run time of their Task in this office."
    )


@extend_schema_serializer(examples=[in_response("half of it is done", examples.BATCH_IN_FULL)])
class BatchInFullOut(BatchOut):
    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    graph: Omittable[GraphOut] = Field(None, exclude_if=lambda graph: graph is None)
    critical_path: PathOut
    estimated_end: Time | None = Field(description="Null if the batch has ended, or if unknown.")


class BatchListView(OfficeView, ListView[Batch]):
    @extend_schema(operation_id="list_batches", responses=list[BatchOut])
    def get(self, request: Request, office_id: UUID) -> Response:
        """List batches, newest first. The batches of an office, each with its progress."""
        page = self.page_of(self.office().batches.order_by("-created_at", "-id"))
        by_batch = progress.progress_of([batch.id for batch in page])
        return self.get_paginated_response(
            [BatchOut.write(batch, progress=by_batch[batch.id]) for batch in page]
        )


class BatchDetailView(OfficeView):
    @extend_schema(operation_id="get_batch", parameters=[GRAPH.openapi], responses=BatchInFullOut)
    def get(self, request: Request, office_id: UUID, batch_id: UUID) -> Response:
        """One batch, with its graph, critical path and estimated end."""
        office = self.office()
        (with_graph,) = read_parameters(request, GRAPH)
        batch = get_or_404(office.batches.all(), batch_id, "batch in this office")
        now = timezone.now()
        nodes = progress.nodes_of(batch)
        parents = progress.edges_of(batch, nodes)
        path = progress.critical_path(nodes, parents, stats.run_times(office.id), now)
        optional = {"graph": graph_of(nodes, parents)} if with_graph else {}
        return Response(
            BatchInFullOut.write(
                batch,
                **optional,
                progress=progress.progress_of([batch.id])[batch.id],
                critical_path={"jobs": path.jobs, "seconds": round(path.seconds, 3)},
                estimated_end=progress.estimated_end(office, nodes, now),
            )
        )


def graph_of(nodes: list[progress.Node], parents: dict[str, list[str]]) -> GraphOut:
    levels = graph.levels(parents)
    edges = [{"parent": parent, "child": child} for child, ids in parents.items() for parent in ids]
    return GraphOut.of({"nodes": [NodeOut.of(node, level=levels[node.id]) for node in nodes], "edges": edges})
