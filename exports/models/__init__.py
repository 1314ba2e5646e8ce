"""The tables of exports."""

from exports.models.export import ExportEvent, ExportJob, ExportLink, Replay
from exports.models.stream import DeadLetter, StreamOutbox

__all__ = ["DeadLetter", "ExportEvent", "ExportJob", "ExportLink", "Replay", "StreamOutbox"]
