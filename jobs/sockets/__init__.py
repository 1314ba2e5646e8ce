"""The sockets: who may open one (authentication, tickets), and how all of them behave (base)."""
