"""Who users are at the provider of the single sign-on."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Identity(models.Model):
    """A user's identity at an issuer. Its subject stays when names and addresses change there."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities", verbose_name=_("user")
    )
    issuer = models.CharField(_("issuer"), max_length=500)
    subject = models.CharField(_("subject"), max_length=255)
    created_at = models.DateTimeField(_("created at"))

    class Meta:
        db_table = "identities"
        verbose_name = _("identity")
        verbose_name_plural = _("identities")
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_user_per_identity")]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"
