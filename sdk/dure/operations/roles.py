"""The queues of roles, for staff."""

from dure.office_records import RoleQueue
from dure.operations.base import Operations, path_part


class Roles(Operations):
    async def roles(self) -> list[RoleQueue]:
        """The roles, and which of their queues are paused. For staff, as the next two."""
        return await self._list("/api/roles", RoleQueue, None)

    async def pause_role(self, role: str, reason: str = "") -> RoleQueue:
        """Lets no run of the role start, in any office and by any trigger, until it is resumed."""
        body = {"reason": reason}
        return await self._post(RoleQueue, f"/api/roles/{path_part(role)}/pause", body)

    async def resume_role(self, role: str) -> RoleQueue:
        """Lets what has waited for the role start, at once."""
        return await self._post(RoleQueue, f"/api/roles/{path_part(role)}/resume")
