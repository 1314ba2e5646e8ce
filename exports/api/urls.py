"""The URLs of this app, below /api/."""

from django.urls import path, register_converter
from django.urls.converters import IntConverter

from exports.api import deadletters, exports, links, replays


class IdConverter(IntConverter):
    """A number that fits the database; a longer one is a URL that does not exist."""

    regex = "[0-9]{1,18}"


register_converter(IdConverter, "id")

urlpatterns = [
    path("replays", replays.ReplaysView.as_view()),
    path("replays/usage", replays.UsageView.as_view()),
    path("replays/<id:replay_id>", replays.ReplayView.as_view()),
    path("replays/<id:replay_id>/exports/mp4", replays.StartMp4View.as_view()),
    path("replays/<id:replay_id>/exports/webm", replays.StartWebmView.as_view()),
    path("replays/<id:replay_id>/exports/gif", replays.StartGifView.as_view()),
    path("replays/<id:replay_id>/exports/thumbnail", replays.StartThumbnailView.as_view()),
    path("jobs", exports.JobsView.as_view()),
    path("jobs/<id:job_id>", exports.JobView.as_view()),
    path("jobs/<id:job_id>/result", exports.ResultView.as_view()),
    path("jobs/<id:job_id>/cancel", exports.CancelView.as_view()),
    path("jobs/<id:job_id>/links", links.LinksView.as_view()),
    path("jobs/<id:job_id>/links/<id:link_id>", links.LinkView.as_view()),
    path("jobs/<id:job_id>/shared/<str:token>", links.SharedView.as_view()),
    path("deadletters", deadletters.DeadLettersView.as_view()),
    path("deadletters/<id:letter_id>", deadletters.DeadLetterView.as_view()),
    path("deadletters/<id:letter_id>/republish", deadletters.RepublishView.as_view()),
    path("deadletters/<id:letter_id>/discard", deadletters.DiscardView.as_view()),
]
