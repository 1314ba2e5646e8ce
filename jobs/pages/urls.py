"""The addresses of the pages of offices, jobs and batches."""

from django.urls import path

from jobs.pages import (
    account,
    activity,
    batch,
    job_detail,
    job_list,
    members,
    office_settings,
    offices,
    run_logs,
    webhooks,
)

app_name = "pages"
OFFICE = "offices/<uuid:office_id>"
WEBHOOK = f"{OFFICE}/webhooks/<int:webhook_id>"
JOB = f"{OFFICE}/jobs/<uuid:job_id>"
BATCH = f"{OFFICE}/batches/<uuid:batch_id>"

urlpatterns = [
    path("account", account.account, name="account"),
    path("account/password", account.password, name="password"),
    path("account/tokens", account.issue_token, name="tokens"),
    path("account/tokens/<int:token_id>/revoke", account.revoke_token, name="token-revoke"),
    path("offices", offices.offices, name="offices"),
    path("offices/new", office_settings.new, name="new-office"),
    path(OFFICE, office_settings.office, name="office"),
    path(f"{OFFICE}/limits", office_settings.limits, name="office-limits"),
    path(f"{OFFICE}/pause", office_settings.pause, {"paused": True}, name="office-pause"),
    path(f"{OFFICE}/resume", office_settings.pause, {"paused": False}, name="office-resume"),
    path(f"{OFFICE}/activity", activity.activity, name="activity"),
    path(f"{OFFICE}/members", members.office_members, name="members"),
    path(f"{OFFICE}/members/remove", members.remove_member, name="member-remove"),
    path(f"{OFFICE}/webhooks", webhooks.office_webhooks, name="webhooks"),
    path(WEBHOOK, webhooks.webhook, name="webhook"),
    path(f"{WEBHOOK}/delete", webhooks.delete, name="webhook-delete"),
    path(f"{WEBHOOK}/<slug:action>", webhooks.act, name="webhook-act"),
    path(f"{WEBHOOK}/deliveries/<int:delivery_id>", webhooks.send_again, name="delivery-again"),
    path(f"{OFFICE}/jobs", job_list.jobs, name="jobs"),
    path(f"{OFFICE}/jobs/live", job_list.jobs, {"template": "list_live.html"}, name="jobs-live"),
    path(f"{OFFICE}/jobs/act", job_list.confirm, name="confirm"),
    path(JOB, job_detail.job, name="job"),
    path(f"{JOB}/live", job_detail.job, {"template": "job_live.html"}, name="job-live"),
    path(f"{JOB}/log", run_logs.job_log, name="job-log"),
    path(f"{JOB}/<slug:verb>", job_detail.act, name="act"),
    path(f"{OFFICE}/batches", offices.batches, name="batches"),
    path(f"{OFFICE}/batches/live", offices.batches, {"template": "batches_live.html"}, name="batches-live"),
    path(BATCH, batch.batch, name="batch"),
    path(f"{BATCH}/live", batch.batch, {"template": "batch_live.html"}, name="batch-live"),
]
