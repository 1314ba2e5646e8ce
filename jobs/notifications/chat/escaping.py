"""Escapes texts of jobs for the markup of a chat, within the length that it takes."""

from collections.abc import Mapping

CUT = "…"


def fit(text: str, limit: int, entities: Mapping[str, str] | None = None) -> str:
    """The text with each sign of `entities` replaced, cut where it would become longer than the limit."""
    replaced = [(entities or {}).get(sign, sign) for sign in text]
    if sum(map(len, replaced)) <= limit:
        return "".join(replaced)
    length, kept = len(CUT), []
    for piece in replaced:
        length += len(piece)
        if length > limit:
            break
        kept.append(piece)
    return "".join(kept) + CUT
