"""WebSockets. authentication.py decides who may open one, base.py how all of them behave, fanout.py reads
rows once for many of them."""
