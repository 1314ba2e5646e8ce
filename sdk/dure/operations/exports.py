"""Replays and their exports."""

from pathlib import Path
from typing import Literal

from dure.downloads import download
from dure.errors import ConfigurationError
from dure.operations.base import LARGEST_PAGE, Operations
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
        return Replay.read(await self._requests.get(f"/api/replays/{replay_id}"))

    async def delete_replay(self, replay: Replay | int) -> None:
        """Deletes its exports and their files too."""
        replay_id = replay if isinstance(replay, int) else replay.replay_id
        await self._requests.delete(f"/api/replays/{replay_id}")

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
        replay_id = replay if isinstance(replay, int) else replay.replay_id
        options = {
            "resolution": resolution,
            "fps": fps,
            "fromMs": from_ms,
            "toMs": to_ms,
            "sound": sound,
        }
        body = {name: value for name, value in options.items() if value is not None}
        started = await self._requests.post(f"/api/replays/{replay_id}/exports/{kind}", body)
        return await self.get_export(started["jobId"])

    async def get_export(self, export_id: int) -> Export:
        return Export.read(await self._requests.get(f"/api/jobs/{export_id}"))

    async def exports(self, *, limit: int = 100) -> list[Export]:
        page = await self._requests.get("/api/jobs", {"size": min(limit, LARGEST_PAGE)})
        return [Export.read(document) for document in page["content"]]

    async def cancel_export(self, export: Export | int) -> Export:
        export_id = export if isinstance(export, int) else export.job_id
        return Export.read(await self._requests.post(f"/api/jobs/{export_id}/cancel"))

    async def share_export(
        self, export: Export | int, *, expires_in_seconds: int | None = None
    ) -> ExportLink:
        """Makes a link to the file; without a time it expires after a week."""
        export_id = export if isinstance(export, int) else export.job_id
        body = {} if expires_in_seconds is None else {"expiresInSeconds": expires_in_seconds}
        return ExportLink.read(await self._requests.post(f"/api/jobs/{export_id}/links", body))

    async def export_links(self, export: Export | int) -> list[ExportLink]:
        """The links that still work."""
        export_id = export if isinstance(export, int) else export.job_id
        answer = await self._requests.get(f"/api/jobs/{export_id}/links")
        return [ExportLink.read(document) for document in answer["content"]]

    async def revoke_export_link(self, export: Export | int, link: ExportLink | int) -> None:
        export_id = export if isinstance(export, int) else export.job_id
        link_id = link if isinstance(link, int) else link.link_id
        await self._requests.delete(f"/api/jobs/{export_id}/links/{link_id}")

    async def download(self, export: Export | int, path: str | Path) -> Path:
        """Writes the file of an ended export. An interrupted download continues where it stopped."""
        export_id = export if isinstance(export, int) else export.job_id
        current = await self.get_export(export_id)
        if not current.succeeded:
            raise ConfigurationError(f"Export {export_id} has no file: it is {current.status}.")
        return await download(self._requests, current, Path(path))
