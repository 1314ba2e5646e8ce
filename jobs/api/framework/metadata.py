"""Answers OPTIONS with the methods of a URL only.

DRF's own metadata reads serializers and querysets, which most views here do not have, and fails.
"""

from typing import TYPE_CHECKING, Any

from rest_framework.metadata import BaseMetadata
from rest_framework.request import Request

if TYPE_CHECKING:
    # DRF's views import this module by its name in the settings.
    from rest_framework.views import APIView


class Methods(BaseMetadata):
    def determine_metadata(self, request: Request, view: "APIView") -> dict[str, Any]:
        return {"methods": view.allowed_methods}
