"""Finds or creates the user of an identity at the provider of the single sign-on.

The first sign-in links the identity with a user, by a claim that settings name; then its subject counts, so
that an address that another person gets later opens nothing.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from jobs import activity
from jobs.errors import Refused
from jobs.models import Identity
from jobs.states import Act

LONGEST_SUBJECT = 255


def user_of(issuer: str, claims: Mapping[str, Any]) -> User:
    """Raises Refused if there is no user for these claims, or if they are not active."""
    subject = str(claims["sub"])
    if len(subject) > LONGEST_SUBJECT:
        raise Refused("identity_unknown")
    identity = Identity.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    try:
        user = identity.user if identity else _link(issuer, subject, claims)
    except IntegrityError:  # at the same moment another sign-in linked it, or took the name
        raise Refused("identity_taken") from None
    if not user.is_active:
        raise Refused("identity_unknown")
    _update_staff(user, claims)
    return user


def unlink(identity: Identity) -> None:
    """The user's next sign-in links them anew."""
    with transaction.atomic():
        if Identity.objects.filter(pk=identity.pk).delete()[0]:
            activity.record(Act.IDENTITY_UNLINKED, owner=identity.user_id, issuer=identity.issuer)


def _link(issuer: str, subject: str, claims: Mapping[str, Any]) -> User:
    with transaction.atomic():
        value = _value_of(claims)
        user = _find_user(value) or _create(value, claims)
        Identity.objects.create(user=user, issuer=issuer, subject=subject, created_at=timezone.now())
        activity.record(Act.IDENTITY_LINKED, owner=user.pk, actor=user.get_username(), issuer=issuer)
    return user


def _value_of(claims: Mapping[str, Any]) -> str:
    """Of the claim by which users are known; an address must be verified by the provider."""
    value = claims.get(settings.DURE_OIDC_USER_CLAIM)
    is_verified = settings.DURE_OIDC_USER_CLAIM != "email" or claims.get("email_verified") in (True, "true")
    if not isinstance(value, str) or not value or not is_verified:
        raise Refused("identity_without_claim", claim=settings.DURE_OIDC_USER_CLAIM)
    return value


def _find_user(value: str) -> User | None:
    """The only user with this address, or of this name, whom nobody else's identity has."""
    by_address = settings.DURE_OIDC_USER_CLAIM == "email"
    users = list(User.objects.filter(**{"email__iexact" if by_address else "username": value})[:2])
    if not users:
        return None
    if len(users) > 1 or users[0].identities.exists():
        raise Refused("identity_taken")
    return users[0]


def _create(value: str, claims: Mapping[str, Any]) -> User:
    """Named after the claim. The user has no password."""
    if not settings.DURE_OIDC_CREATE_USERS:
        raise Refused("identity_unknown")
    email = claims.get("email")
    user = User(username=value, email=email if isinstance(email, str) else "")
    user.set_unusable_password()
    try:
        user.full_clean(exclude=["password"])
    except ValidationError:
        raise Refused("identity_taken") from None
    user.save()
    return user


def _update_staff(user: User, claims: Mapping[str, Any]) -> None:
    """The provider decides who is staff, if settings name a claim. A superuser stays what they are."""
    if not settings.DURE_OIDC_STAFF_CLAIM or user.is_superuser:
        return
    value = claims.get(settings.DURE_OIDC_STAFF_CLAIM)
    is_staff = settings.DURE_OIDC_STAFF_VALUE in (value if isinstance(value, list) else [value])
    if User.objects.filter(pk=user.pk, is_staff=not is_staff).update(is_staff=is_staff):
        user.is_staff = is_staff
