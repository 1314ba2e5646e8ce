"""The tests of exports: the API, the streams, the sockets, the files and the figures."""
