"""`manage.py doctor`: checks an installation, and says how to fix each problem.

Each app has its checks in `diagnostics`. A check changes nothing, takes a few seconds at most, and prints no
secret. Functions named `check_…` judge plain values; the registered ones read them.
"""
