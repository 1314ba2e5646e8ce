// A client of the API with the types of docs/openapi.yaml: only the required fields of each body are given.
import createClient from "openapi-fetch";
import type { paths } from "./openapi";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8000" });

export async function submit(office_id: string): Promise<string[]> {
  const path = { office_id };
  const one = await client.POST("/api/offices/{office_id}/jobs", {
    params: { path },
    body: { task_id: "demo.sum", args: { numbers: [1, 2, 3] } },
  });
  if (one.error) throw new Error(one.error.code);
  const several = await client.POST("/api/offices/{office_id}/jobs", {
    params: { path },
    body: {
      batch: { name: "nightly" },
      jobs: [
        { ref: "a", task_id: "demo.sum", args: { numbers: [1] } },
        { ref: "b", task_id: "demo.sum", args: { numbers: [2] }, depends_on: ["a"] },
      ],
    },
  });
  const list = await client.GET("/api/offices/{office_id}/jobs", { params: { path, query: { page_size: 10 } } });
  return (list.data?.results ?? []).map((job) => `${job.id} ${job.status} ${several.response.status}`);
}

export async function create(office: string): Promise<void> {
  await client.POST("/api/schedules", {
    body: { name: "report", task_id: "demo.sum", kind: "cron", cron: "0 9 * * *" },
  });
  await client.POST("/api/workflows", {
    body: {
      office,
      name: "month end",
      steps: [{ ref: "a", task_id: "demo.sum" }],
      schedule_config: { mode: "recurring", pattern: "monthly", time: "09:00", day_of_month: "last" },
    },
  });
  await client.POST("/api/queues", { body: {} });
  const { data } = await client.GET("/api/queues/{queue_id}", { params: { path: { queue_id: 1 } } });
  if (data && typeof data.queue_return !== "string") data.queue_return.map((line) => line.operation);
}
