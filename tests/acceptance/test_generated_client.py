"""openapi-python-client reads the whole schema, and the client that it writes works."""

import importlib
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.acceptance.system import CHECKOUT, System
from tests.unit.process_tools import eventually

PACKAGE = "dure_client"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("client")
    config = folder / "config.json"
    config.write_text(json.dumps({"post_hooks": [], "package_name_override": PACKAGE}))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"),
            *("--meta", "none", "--path", str(CHECKOUT / "docs" / "openapi.yaml")),
            *("--output-path", str(folder / PACKAGE), "--config", str(config)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")
    sys.path.remove(str(folder))


def test_a_generated_client_submits_and_reads_what_the_api_answers(stack: System, api: Any) -> None:
    token = stack.client("alice").headers["Authorization"].removeprefix("Token ")
    client = api("client").AuthenticatedClient(stack.base_url, token, prefix="Token")
    models = api("models")

    def call(operation: str, *path: object, **values: object) -> Any:
        response = api(f"api.{operation}").sync_detailed(*path, client=client, **values)
        assert response.status_code < 300, response.content
        return response.parsed

    office = call("offices.create_office", body=models.OfficeRequest.from_dict({"name": "Generated"})).id
    job = {"task_id": "demo.sum", "args": {"numbers": [1, 2, 3]}}
    submitted = call("jobs.submit_jobs", office, body=models.JobSubmissionRequest.from_dict(job))
    assert eventually(lambda: call("jobs.get_job", office, submitted.id).status.value == "done", 60)
    assert call("jobs.get_job", office, submitted.id).result == 6

    monthly = {"mode": "recurring", "pattern": "monthly", "time": "09:00", "day_of_month": "last"}
    workflow = {"office": str(office), "name": "month end", "steps": [job], "schedule_config": monthly}
    assert call("workflows.create_workflow", body=models.NewWorkflowRequest.from_dict(workflow)).id
    queue = call("step_queues.create_queue", body=models.QueueRequest.from_dict({"name": "new"}))
    assert queue.queue_id in {row.queue_id for row in call("step_queues.list_queues").results}
    assert call("monitor.monitor").counts.pending >= 0
    call("offices.delete_office", office)
