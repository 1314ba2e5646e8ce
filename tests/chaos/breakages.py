"""Guards taken out on purpose, one at a time: the checker has to turn red for each."""

from jobs.sql.call import ENGINE

NAMES = ("fence", "claim", "lock", "resend")


def broken(name: str) -> str | None:
    """The engine's functions without one of their guards; None where the break is in `bodies.py`."""
    text = ENGINE.read_text()
    if name == "fence":
        return replaced(
            text,
            "WHERE id = p_execution AND fence = p_fence AND status = 'RUNNING' AND locked_until > clock_timestamp()",
            "WHERE id = p_execution",
        )
    if name == "claim":
        return replaced(
            text,
            "WHERE id = p_execution AND dispatch = p_dispatch AND status = 'PENDING' AND dispatched_at IS NOT NULL",
            "WHERE id = p_execution AND status IN ('PENDING', 'RUNNING')",
        )
    if name == "lock":
        return text.replace("WHERE id = v_office FOR NO KEY UPDATE", "WHERE id = v_office").replace(
            "WHERE id = p_office FOR NO KEY UPDATE", "WHERE id = p_office"
        )
    return None


def replaced(text: str, guard: str, without: str) -> str:
    if guard not in text:
        raise SystemExit(f"The guard that was to be taken out is not there any more: {guard}")
    return text.replace(guard, without)
