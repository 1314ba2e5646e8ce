"""Kills, freezes and wipes things under load, and checks from the recorded history that no promise broke.

    make chaos ARGS="--jobs 2000 --faults 200 --seed 7"

`workload` submits random graphs, `faults` does the damage, `history` reads what was recorded, and
`checker` proves or disproves. `--break NAME` takes one guard out, to show that the checker sees it.
"""
