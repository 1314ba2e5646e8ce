"""The list of everything that ran or will run: jobs, and runs without a job."""
