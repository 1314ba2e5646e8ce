"""Replays and their exports."""

from pathlib import Path
from typing import Literal

from dure.downloads import download
from dure.errors import ConfigurationError
from dure.operations.base import LARGEST_PAGE, Operations, path_part, without_none
from dure.records import Export, ExportLink, Replay


class Exports(Operations):
    async def upload_replay(self, path: str | Path, *, title: str | None = None) -> Replay:
        """Uploads an event log or a video."""
        path = Path(path)
        with path.open("rb") as file:
            answer = await self._requests.post(
                "/api/replays", files={"file": (path.name, file)}, data={"title": title} if title else {}
            )
        return Replay.read(answer)

    async def replays(self, *, limit: int = 100) -> list[Replay]:
        """The newest replays."""
        page = await self._requests.get("/api/replays", {"size": min(limit, LARGEST_PAGE)})
        return [Replay.read(document) for document in page["content"]]

    async def replay(self, replay_id: int) -> Replay:
        return await self._get(Replay, _replay_path(replay_id))

    async def delete_replay(self, replay: Replay | int) -> None:
        """Deletes its exports and their files too."""
        await self._requests.delete(_replay_path(replay))

    async def export(
        self,
        replay: Replay | int,
        kind: Literal["mp4", "webm", "gif", "thumbnail"] = "mp4",
        *,
        resolution: Literal["360p", "480p", "720p", "1080p"] | None = None,
        fps: int | None = None,
        from_ms: int | None = None,
        to_ms: int | None = None,
        sound: bool | None = None,
    ) -> Export:
        """Starts an export of the replay, or of the part of it from `from_ms` to `to_ms`.

        An MP4 or WebM keeps the sound of a video unless `sound` is false."""
        body = without_none(resolution=resolution, fps=fps, fromMs=from_ms, toMs=to_ms, sound=sound)
        started = await self._requests.post(f"{_replay_path(replay)}/exports/{kind}", body)
        return await self.get_export(started["jobId"])

    async def get_export(self, export_id: int) -> Export:
        return await self._get(Export, _export_path(export_id))

    async def exports(self, *, limit: int = 100) -> list[Export]:
        page = await self._requests.get("/api/jobs", {"size": min(limit, LARGEST_PAGE)})
        return [Export.read(document) for document in page["content"]]

    async def cancel_export(self, export: Export | int) -> Export:
        return await self._post(Export, f"{_export_path(export)}/cancel")

    async def share_export(
        self, export: Export | int, *, expires_in_seconds: int | None = None
    ) -> ExportLink:
        """Makes a link to the file; without a time it expires after a week."""
        body = without_none(expiresInSeconds=expires_in_seconds)
        return await self._post(ExportLink, f"{_export_path(export)}/links", body)

    async def export_links(self, export: Export | int) -> list[ExportLink]:
        """The links that still work."""
        answer = await self._requests.get(f"{_export_path(export)}/links")
        return [ExportLink.read(document) for document in answer["content"]]

    async def revoke_export_link(self, export: Export | int, link: ExportLink | int) -> None:
        await self._requests.delete(f"{_export_path(export)}/links/{path_part(link, 'link_id')}")

    async def download(self, export: Export | int, path: str | Path) -> Path:
        """Writes the file of an ended export. An interrupted download continues where it stopped."""
        current = await self._get(Export, _export_path(export))
        if not current.succeeded:
            raise ConfigurationError(f"Export {current.job_id} has no file: it is {current.status}.")
        return await download(self._requests, current, Path(path))


def _replay_path(replay: Replay | int) -> str:
    return f"/api/replays/{path_part(replay, 'replay_id')}"


def _export_path(export: Export | int) -> str:
    return f"/api/jobs/{path_part(export, 'job_id')}"
