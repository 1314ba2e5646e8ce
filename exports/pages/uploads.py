"""The form by which a replay is uploaded; what it may be, the API's own rules decide."""

from typing import Any, BinaryIO, cast

from django import forms
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from exports import failures, replays
from exports.api.replays import LONGEST_TITLE
from exports.models import Replay
from jobs.errors import Refused


class UploadForm(forms.Form):
    file = forms.FileField(label=gettext_lazy("Replay"), allow_empty_file=True)
    title = forms.CharField(
        label=gettext_lazy("Title (if it has none of its own)"), max_length=LONGEST_TITLE, required=False
    )

    def keep(self, owner: User) -> Replay | None:
        """None: it was refused, and the form says why."""
        file: UploadedFile[Any] = self.cleaned_data["file"]
        content = cast(BinaryIO, file.file)  # Django's own wrapper has no readline with a limit
        try:
            return replays.store(owner, content, file.name or "", self.cleaned_data["title"], timezone.now())
        except Refused as refused:
            self.add_error(
                "file",
                _("This is no replay that can be used: %(why)s")
                % {"why": failures.translated(str(refused), _) or str(refused)},
            )
        except replays.NoSpace:
            self.add_error("file", _("The server has no space left for uploads; try again later."))
        return None
