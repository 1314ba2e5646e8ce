"""Threads that work beside the faults until they are asked to stop."""

import threading


class StoppableThread(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stop_asked = threading.Event()

    def stop(self) -> None:
        self.stop_asked.set()
        self.join(60)
