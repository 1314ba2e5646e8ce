"""The page of an office's members: adding, changing and removing them, and what is refused."""

import pytest

from jobs.states import MemberRole
from tests.factories import a_member, a_user
from tests.integration.pages.clients import at, field_error, sign_in, text_of

pytestmark = pytest.mark.django_db


def roles(office) -> dict[str, str]:
    return {member.user.username: member.role for member in office.memberships.select_related("user")}


def test_an_owner_adds_changes_and_removes_a_member(office, alice):
    a_user("b@x.example+1")
    page = at(office, "/members")
    alice.post(page, {"username": "b@x.example+1", "role": "viewer"})
    assert roles(office) == {"alice": "owner", "b@x.example+1": "viewer"}
    alice.post(page, {"username": "b@x.example+1", "role": "operator"})
    assert roles(office)["b@x.example+1"] == "operator"
    text = text_of(alice.get(page))
    assert f'href="{at(office, "/members/remove")}?username=b%40x.example%2B1"' in text
    question = text_of(alice.get(at(office, "/members/remove"), {"username": "b@x.example+1"}))
    assert 'value="b@x.example+1"' in question
    assert alice.post(at(office, "/members/remove"), {"username": "b@x.example+1"})["Location"] == page
    assert roles(office) == {"alice": "owner"}


@pytest.mark.parametrize(("language", "reason"), [("en", "An office needs an owner"), ("ko", "소유자가")])
def test_the_last_owner_stays_and_the_page_says_why(office, language, reason):
    client = sign_in(language=language)
    changed = client.post(at(office, "/members"), {"username": "alice", "role": "viewer"})
    assert changed.status_code == 400
    assert reason in text_of(changed)
    assert reason in text_of(client.post(at(office, "/members/remove"), {"username": "alice"}, follow=True))
    assert roles(office) == {"alice": "owner"}


def test_an_unknown_user_or_role_is_refused_at_its_field(office, alice):
    unknown = alice.post(at(office, "/members"), {"username": "nobody", "role": "viewer"})
    assert "There is no such user." in field_error(unknown, "username")
    wrong = alice.post(at(office, "/members"), {"username": "alice", "role": "king"})
    assert "Select a valid choice" in field_error(wrong, "role")
    for request in (alice.get, alice.post):
        assert request(at(office, "/members/remove"), {"username": "nobody"}).status_code == 404
    assert roles(office) == {"alice": "owner"}


def test_an_owner_may_leave_once_there_is_another(office, alice):
    a_member(office, "omar", MemberRole.OWNER)
    assert alice.post(at(office, "/members/remove"), {"username": "alice"})["Location"] == "/offices"
    assert roles(office) == {"omar": "owner"}


def test_only_owners_see_and_change_members(office):
    a_member(office, "olga", MemberRole.OPERATOR)
    form = {"username": "olga", "role": "owner"}
    for rest in ("/members", "/members/remove"):
        assert sign_in("olga").get(at(office, rest), form).status_code == 403
        assert sign_in("olga").post(at(office, rest), form).status_code == 403
    assert roles(office) == {"alice": "owner", "olga": "operator"}
    assert "/members" not in text_of(sign_in("olga").get(at(office, "")))
