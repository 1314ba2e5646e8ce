"""The URLs of the pages of replays, exports and dead letters."""

from django.urls import path

from exports.pages import deadletters, exports, replays

app_name = "exports"
REPLAY = "exports/replays/<int:replay_id>"
EXPORT = "exports/<int:job_id>"
DEAD_LETTER = "deadletters/<int:letter_id>"

urlpatterns = [
    path("exports", exports.exports, name="exports"),
    path("exports/parts", exports.parts, name="parts"),
    path("exports/replays", replays.replays, name="replays"),
    path(REPLAY, replays.replay, name="replay"),
    path(f"{REPLAY}/delete", replays.delete, name="delete"),
    path(f"{REPLAY}/<slug:kind>", replays.start, name="start"),
    path(EXPORT, exports.export, name="export"),
    path(f"{EXPORT}/cancel", exports.cancel, name="cancel"),
    path(f"{EXPORT}/again", exports.start_again, name="again"),
    path(f"{EXPORT}/links", exports.share, name="share"),
    path(f"{EXPORT}/links/<int:link_id>/revoke", exports.revoke, name="revoke"),
    path("deadletters", deadletters.dead_letters, name="dead-letters"),
    path(DEAD_LETTER, deadletters.dead_letter, name="dead-letter"),
    path(f"{DEAD_LETTER}/<slug:verb>", deadletters.act, name="act"),
]
