"""Deliberate breakages, each of which disables one guard. The checker must report each of them."""

from jobs.sql import engine

# "slow" takes nothing out: it only widens the gap between counting slots and filling them, as "lock" does.
NAMES = ("fence", "claim", "lock", "republish", "slow", "exclusive", "rate")


def broken(name: str) -> str | None:
    """The engine's functions without one of their guards; None where the break is in `bodies.py`."""
    text = engine.TEXT.read_text()
    if name == "fence":
        return replaced(
            text,
            "WHERE id = p_execution AND fence = p_fence AND status || '' = 'RUNNING'\n"
            "      AND locked_until > clock_timestamp()",
            "WHERE id = p_execution",
        )
    if name == "claim":
        return replaced(
            text,
            "WHERE id = p_execution AND dispatch = p_dispatch AND status || '' = 'PENDING'\n"
            "          AND dispatched_at IS NOT NULL\n",
            "WHERE id = p_execution AND status IN ('PENDING', 'RUNNING')\n",
        )
    if name == "exclusive":
        text = replaced(
            text, "IF j.exclusive IS NOT NULL AND dure_startable(", "IF false AND dure_startable("
        )
        text = replaced(text, "AND (job_id IS NOT NULL OR exclusive_for = '')", "")
        return f"{text}DROP INDEX one_exclusive_run;"
    if name == "rate":
        return replaced(text, "IF until >= at THEN", "IF false THEN")
    if name in ("lock", "slow"):
        counted = "    IF v_used >= o.max_concurrent_jobs THEN"
        text = replaced(text, counted, f"    PERFORM pg_sleep(0.02);\n{counted}")
    if name == "lock":
        # All locks of an office: by its id, and by the id of an Execution.
        for office in ("WHERE id = v_office", "WHERE id = p_office", "WHERE x.id = p_execution"):
            text = replaced(text, f"{office} FOR NO KEY UPDATE", office)
        text = text.replace(" OF o;", ";").replace(" OF o2;", ";")
        # This second guard turns two dispatchers of the same job into an error instead of an excess run.
        text += "DROP INDEX one_live_execution_per_job;"
    if name in ("lock", "slow"):
        return text
    return None


def replaced(text: str, guard: str, without: str) -> str:
    if guard not in text:
        raise SystemExit(f"The guard that was to be taken out is not there any more: {guard}")
    return text.replace(guard, without)
