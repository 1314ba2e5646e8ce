"""Kills, freezes and wipes things under load, and checks from the recorded history that no promise broke.

    make chaos ARGS="--jobs 2000 --faults 200 --seed 7 --lease 5"
    make chaos ARGS="failover --asynchronous"

`workload` submits random graphs, cancels and retries by hand, and its `bodies` start programs; `faults` does
the damage, `history` reads what was recorded, and `checker` proves or disproves. `programs` looks for those
that outlive their run, `recovery` for moments in which a lost run could have started again. A seed repeats
the graphs and the order of the faults. `--break NAME` takes one guard out, to show that the checker sees it.

`failover` kills PostgreSQL's primary instead, and promotes its standby: see `replication`.
"""
