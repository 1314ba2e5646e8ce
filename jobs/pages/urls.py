"""Addresses of the pages about offices."""

from django.urls import path

from jobs.pages import batch, lists, offices, one

app_name = "pages"
OFFICE = "offices/<uuid:office_id>"
JOB = f"{OFFICE}/jobs/<uuid:job_id>"
BATCH = f"{OFFICE}/batches/<uuid:batch_id>"

urlpatterns = [
    path("offices", offices.offices, name="offices"),
    path(f"{OFFICE}/jobs", lists.jobs, name="jobs"),
    path(f"{OFFICE}/jobs/act", lists.confirm, name="confirm"),
    path(JOB, one.job, name="job"),
    path(f"{JOB}/live", one.job_live, name="job-live"),
    path(f"{JOB}/<slug:verb>", one.act, name="act"),
    path(f"{OFFICE}/batches", offices.batches, name="batches"),
    path(BATCH, batch.batch, name="batch"),
    path(f"{BATCH}/live", batch.batch_live, name="batch-live"),
]
