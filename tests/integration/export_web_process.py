"""The real web process with shortened timeouts for silent and slow clients."""

import os


def main() -> None:
    from config import web
    from exports.sockets import ExportsSocket
    from jobs.sockets import fanout, subscriber

    # Redis answers by then, also on a busy machine.
    subscriber.SILENCE_SECONDS = 2.0
    fanout.POLL_SECONDS = 600.0
    ExportsSocket.slow_seconds = 0.5
    ExportsSocket.heartbeat_seconds = 0.5
    web.main()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    main()
