"""An office: the limits of its jobs, its members and webhooks."""

from collections.abc import Sequence
from typing import Literal, Unpack

from pydantic.alias_generators import to_camel

from dure.office_records import ConfigChanges, Delivery, Member, OfficeConfig, Webhook, WebhookWithSecret
from dure.operations.base import Operations, path_part, without_none

Role = Literal["viewer", "operator", "owner"]


class Offices(Operations):
    async def config(self, *, office: str | None = None) -> OfficeConfig:
        path = f"{await self._office_path(office)}/scheduler/config"
        return await self._get(OfficeConfig, path)

    async def change_config(
        self, *, office: str | None = None, **changes: Unpack[ConfigChanges]
    ) -> OfficeConfig:
        """Changes what is given; `paused=True` starts no more jobs. For owners."""
        body = {to_camel(name): value for name, value in changes.items()}
        path = f"{await self._office_path(office)}/scheduler/config"
        return await self._patch(OfficeConfig, path, body)

    async def members(self, *, office: str | None = None, limit: int = 100) -> list[Member]:
        return await self._list(f"{await self._office_path(office)}/members", Member, limit)

    async def set_member(self, username: str, role: Role, *, office: str | None = None) -> Member:
        """Adds a member, or changes the role of one. For owners."""
        body = {"username": username, "role": role}
        return await self._post(Member, f"{await self._office_path(office)}/members", body)

    async def remove_member(self, member: Member | str, *, office: str | None = None) -> None:
        path = f"{await self._office_path(office)}/members/{path_part(member, 'username')}"
        await self._requests.delete(path)

    async def webhooks(self, *, office: str | None = None, limit: int = 100) -> list[Webhook]:
        return await self._list(f"{await self._office_path(office)}/webhooks", Webhook, limit)

    async def webhook(self, webhook_id: int, *, office: str | None = None) -> Webhook:
        return await self._get(Webhook, await self._webhook_path(webhook_id, office))

    async def create_webhook(
        self,
        url: str,
        *,
        event_types: Sequence[str] | None = None,
        format: Literal["dure", "slack", "discord", "teams"] = "dure",
        office: str | None = None,
    ) -> WebhookWithSecret:
        """Sends the events of these types to a URL; without types those of failures and ends of batches."""
        types = None if event_types is None else list(event_types)
        body = without_none(url=url, format=format, event_types=types)
        path = f"{await self._office_path(office)}/webhooks"
        return await self._post(WebhookWithSecret, path, body)

    async def change_webhook(
        self,
        webhook: Webhook | int,
        *,
        url: str | None = None,
        event_types: Sequence[str] | None = None,
        enabled: bool | None = None,
        office: str | None = None,
    ) -> Webhook:
        """Changes what is given."""
        body = without_none(url=url, event_types=event_types, enabled=enabled)
        return await self._patch(Webhook, await self._webhook_path(webhook, office), body)

    async def delete_webhook(self, webhook: Webhook | int, *, office: str | None = None) -> None:
        await self._requests.delete(await self._webhook_path(webhook, office))

    async def rotate_webhook_secret(
        self, webhook: Webhook | int, *, office: str | None = None
    ) -> WebhookWithSecret:
        """Makes a new secret; the old one signs too until `old_secret_until`."""
        path = await self._webhook_path(webhook, office)
        return await self._post(WebhookWithSecret, f"{path}/rotate")

    async def test_webhook(self, webhook: Webhook | int, *, office: str | None = None) -> Delivery:
        """Sends a test message."""
        path = await self._webhook_path(webhook, office)
        return await self._post(Delivery, f"{path}/test")

    async def deliveries(
        self, webhook: Webhook | int, *, office: str | None = None, limit: int = 100
    ) -> list[Delivery]:
        """The newest messages to the webhook."""
        path = await self._webhook_path(webhook, office)
        return await self._list(f"{path}/deliveries", Delivery, limit)

    async def send_again(
        self, webhook: Webhook | int, delivery: Delivery | int, *, office: str | None = None
    ) -> Delivery:
        path = f"{await self._webhook_path(webhook, office)}/deliveries/{path_part(delivery)}/send-again"
        return await self._post(Delivery, path)

    async def _webhook_path(self, webhook: Webhook | int, office: str | None) -> str:
        return f"{await self._office_path(office)}/webhooks/{path_part(webhook)}"
