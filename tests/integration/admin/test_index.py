"""The index of the admin in its groups."""

import pytest
from django.contrib import admin
from django.urls import reverse

from config.admin_site import GROUPS, LAST
from tests.integration.admin.test_forms import staff

pytestmark = pytest.mark.django_db


def groups_of(page):
    return {
        group["app_label"]: [table["object_name"] for table in group["models"]]
        for group in page.context["app_list"]
    }


def test_the_index_begins_with_jobs_and_ends_with_the_internals_of_the_engine(root):
    groups = groups_of(root.get(reverse("admin:index")))
    assert list(groups) == [*GROUPS, "django_celery_beat", LAST[0]]
    assert groups["work"][0] == "Job"
    assert {"Counter", "EventCursor", "IdempotentAnswer", "QueueProbe"} <= set(groups["internals"])
    listed = [table for tables in groups.values() for table in tables]
    assert len(listed) == len(set(listed)) == len(admin.site._registry)


def test_the_index_shows_the_tables_that_the_user_may_see():
    groups = groups_of(staff("vera", "view_job", "view_counter").get(reverse("admin:index")))
    assert groups == {"work": ["Job"], "internals": ["Counter"]}


def test_an_apps_own_index_still_lists_all_of_its_tables(root):
    (app,) = root.get("/admin/exports/").context["app_list"]
    assert {"ExportJob", "StreamOutbox"} <= {table["object_name"] for table in app["models"]}
