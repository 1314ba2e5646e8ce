"""The built-in Tasks and operations. Put your own beside them."""
