"""Step queues: ordered lists of operations that roll back when one of them fails.

`transitions` decides what comes next, as pure functions. `queues` creates queues and enqueues jobs,
`lifecycle` has the verbs of a run: each operation is an Execution of the engine, and `advance` is called in
the transaction in which it ends. `runner` writes what one transaction changes. `libraries` registers the
operations, `operations` runs one in a worker.

docs/step-queues.md lists the decisions where the specification is silent.
"""
