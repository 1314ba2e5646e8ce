"""Which workers offer a Task, in which versions, and when the last one was heard of."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from jobs import catalogue
from jobs.sql import call
from jobs.sql.catalogue import OFFERS


@dataclass(frozen=True)
class Offer:
    """One worker's offer of a Task, with the version of its code."""

    worker: str
    seen_at: datetime
    online: bool
    # Also online, not draining, and with a queue of the Task's role.
    serves: bool
    digest: str
    # As normalised JSON, to compare.
    schema: str
    limits: str
    package: str
    version: str
    code_digest: str


@dataclass(frozen=True)
class Service:
    """How a Task is offered. Without any offer, as before the first worker, only its role counts."""

    offers: list[Offer]
    role_is_served: bool

    @property
    def is_available(self) -> bool:
        return self.role_is_served and (not self.offers or any(offer.serves for offer in self.offers))

    @property
    def seen_at(self) -> datetime | None:
        return max((offer.seen_at for offer in self.offers), default=None)

    @property
    def newest(self) -> Offer | None:
        return max(self.offers, key=lambda offer: (offer.online, offer.seen_at), default=None)

    @property
    def schemas_differ(self) -> bool:
        """Whether online workers would check the same arguments differently."""
        return len({offer.schema for offer in self.offers if offer.online}) > 1

    @property
    def limits_differ(self) -> bool:
        """Whether online workers have registered different limits. Those of the last one are in force."""
        return len({offer.limits for offer in self.offers if offer.online}) > 1


def services(tasks: Collection[tuple[str, str]]) -> dict[str, Service]:
    """By task_id. `tasks` are pairs of a task_id and the role that its run has."""
    values = {
        "kind": catalogue.TASK,
        "names": [task_id for task_id, _ in tasks],
        "roles": [role for _, role in tasks],
        "lease": settings.DURE_LEASE_SECONDS,
    }
    offers: dict[str, list[Offer]] = defaultdict(list)
    served = {}
    for name, role_is_served, worker, *offer in call.rows(OFFERS, values):
        served[name] = role_is_served
        if worker is not None:
            offers[name].append(Offer(worker, *offer))
    return {name: Service(offers[name], is_served) for name, is_served in served.items()}


def service_of(task_id: str, role: str) -> Service:
    return services([(task_id, role)])[task_id]
