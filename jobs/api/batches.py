"""Batches: progress, graph, critical path and estimated end."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import graph, serialize
from jobs.api import examples
from jobs.api.framework.filtering import FilterBackend, reject_unknown
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.pagination import PagePagination
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.query import Flag
from jobs.api.views import OfficeView
from jobs.insight import progress, stats
from jobs.models import Batch
from jobs.states import JobStatus

GRAPH = Flag("graph", "`false` leaves the graph out.", default=True)


class BatchProgressSerializer(serializers.Serializer[None]):
    total = serializers.IntegerField()
    by_status = serializers.DictField(
        child=serializers.IntegerField(), help_text="Number of jobs in each state."
    )
    percent = serializers.FloatField(help_text="Share of the jobs that have ended, in whatever state.")


@extend_schema_serializer(
    component_name="Batch", examples=[in_response("half of it is done", examples.HALF_DONE)]
)
class BatchSerializer(serializers.Serializer[None]):
    id = serializers.UUIDField()
    name = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True, help_text="Time at which its last job ended.")
    progress = BatchProgressSerializer()


class NodeSerializer(serializers.Serializer[None]):
    id = serializers.UUIDField()
    ref = serializers.CharField(allow_null=True)
    task_id = serializers.CharField()
    role = serializers.CharField()
    status = serializers.ChoiceField(JobStatus.choices)
    level = serializers.IntegerField(help_text="Length of the longest path from a root.")
    started_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(allow_null=True)


EdgeSerializer = inline_serializer(
    "Edge",
    {
        "from": serializers.UUIDField(help_text="The dependency."),
        "to": serializers.UUIDField(help_text="The job that waits for it."),
    },
    many=True,
)


class GraphSerializer(serializers.Serializer[None]):
    nodes = NodeSerializer(many=True)
    edges = EdgeSerializer


class PathSerializer(serializers.Serializer[None]):
    jobs = serializers.ListField(child=serializers.UUIDField(), help_text="In order.")
    seconds = serializers.FloatField(
        help_text="Their run times; for unfinished jobs, the usual run time of their Task in this office."
    )


@extend_schema_serializer(
    component_name="BatchInFull", examples=[in_response("half of it is done", examples.BATCH_IN_FULL)]
)
class BatchInFullSerializer(BatchSerializer):
    graph = GraphSerializer(required=False)
    critical_path = PathSerializer()
    estimated_end = serializers.DateTimeField(
        allow_null=True, help_text="Null if the batch has ended, or if unknown."
    )


class BatchListView(OfficeView):
    """The batches of an office, each with its progress."""

    queryset = Batch.objects.none()
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)

    @extend_schema(
        operation_id="list_batches",
        tags=["batches"],
        summary="List batches, newest first",
        responses=BatchSerializer(many=True),
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        batches = self.office().batches.order_by("-created_at", "-id")
        page = self.paginate_queryset(self.filter_queryset(batches)) or []
        counts = progress.counts_of([batch.id for batch in page])
        return self.get_paginated_response([batch_json(batch, counts[batch.id]) for batch in page])


class BatchDetailView(OfficeView):
    """One batch with its graph."""

    @extend_schema(
        operation_id="get_batch",
        tags=["batches"],
        summary="One batch, with its graph, critical path and estimated end",
        parameters=[GRAPH.openapi],
        responses=BatchInFullSerializer,
    )
    def get(self, request: Request, office_id: UUID, batch_id: UUID) -> Response:
        office = self.office()
        reject_unknown(request, (GRAPH.name,))
        with_graph = GRAPH.of(request)
        batch = office.batches.filter(pk=batch_id).first()
        if batch is None:
            raise Problem(404, "not_found", "There is no such batch in this office.")
        now = timezone.now()
        nodes = progress.nodes_of(batch)
        parents = progress.edges_of(batch, nodes)
        path = progress.critical_path(nodes, parents, stats.run_times(office.id), now)
        answer = batch_json(batch, progress.counts_of([batch.id])[batch.id])
        if with_graph:
            answer["graph"] = graph_json(nodes, parents)
        answer["critical_path"] = {"jobs": path.jobs, "seconds": round(path.seconds, 3)}
        answer["estimated_end"] = serialize.iso_time(progress.estimated_end(office, nodes, now))
        return Response(answer)


def batch_json(batch: Batch, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "id": str(batch.id),
        "name": batch.name or None,
        "created_at": serialize.iso_time(batch.created_at),
        "ended_at": serialize.iso_time(batch.ended_at),
        "progress": {
            "total": sum(counts.values()),
            "by_status": counts,
            "percent": progress.percent(counts),
        },
    }


def graph_json(nodes: list[progress.Node], parents: dict[str, list[str]]) -> dict[str, Any]:
    levels = graph.levels(parents)
    return {
        "nodes": [
            {
                "id": node.id,
                "ref": node.ref or None,
                "task_id": node.task_id,
                "role": node.role,
                "status": node.status,
                "level": levels[node.id],
                "started_at": serialize.iso_time(node.started_at),
                "completed_at": serialize.iso_time(node.completed_at),
            }
            for node in nodes
        ],
        "edges": [{"from": parent, "to": child} for child, ids in parents.items() for parent in ids],
    }
