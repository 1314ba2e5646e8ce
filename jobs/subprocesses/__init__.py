"""Child processes: starting them isolated, ending them with all their descendants, and confining them.

`program` runs a command under `guard`, a small process that ends everything the command started. `restrict`
confines a process of our own. `orphans` ends what a dead pool process left behind. The modules that a child
imports (`guard`, `restrict`, `linux`, `process_tree`) use the standard library only.
"""
