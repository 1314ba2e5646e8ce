"""Tests of exports: API, streams, sockets, files and metrics."""
