"""Step queues: an ordered list of operations that walks forward, and back when one of them fails.

`walk` says what comes next and knows nothing else. `building` makes queues and enqueues jobs, `lifecycle`
runs them: each operation is an Execution of the engine, and `advance` is called in the transaction in
which one ends. `libraries` knows the operations, `operating` carries one out in a worker.

What was decided where the specification is silent stands in docs/step-queues.md.
"""
