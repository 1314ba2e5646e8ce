"""The base of the views about one step queue."""

from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import user_of
from jobs.api.views import accepted_response
from jobs.states import MemberRole
from scheduler.steps.access import queue_for
from scheduler.steps.api import schemas
from scheduler.steps.models import StepQueue


class QueueView(APIView):
    def queue(self, needed: str = MemberRole.VIEWER) -> StepQueue:
        return queue_for(user_of(self.request), self.kwargs["queue_id"], needed)

    def accepted_response(self, queue_id: int) -> Response:
        location = self.request.build_absolute_uri(f"/api/queues/{queue_id}")
        return accepted_response(schemas.StepQueueOut.write(read_queue(queue_id)), location)


def read_queue(queue_id: int) -> StepQueue:
    return StepQueue.objects.select_related("owner").get(pk=queue_id)
