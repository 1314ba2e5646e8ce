# One image for all processes of the Procfile; compose.yaml runs them together.
# The tests run on the same version.
ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS packages
RUN python -m venv /opt/venv
COPY requirements.txt .
# Only locked packages, and only wheels, so that no compiler is needed.
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
        --no-deps --require-hashes --only-binary :all: -r requirements.txt
# The package `dure` is on the path of every process, as config/dev/install.py does it.
RUN echo /app/sdk > "$(/opt/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/dure.pth"

FROM packages AS static
WORKDIR /app
COPY manage.py ./
COPY config config
COPY jobs jobs
COPY scheduler scheduler
COPY exports exports
COPY workers workers
COPY sdk/dure sdk/dure
# This needs neither the database nor Redis. DURE_ENV=development, since the build has no secrets.
RUN DURE_ENV=development /opt/venv/bin/python manage.py collectstatic --no-input \
    && /opt/venv/bin/python -m compileall -q .

FROM ${PYTHON}
RUN groupadd --gid 10001 dure \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin dure \
    && install -d -o 10001 -g 10001 -m 700 /data
COPY --from=packages /opt/venv /opt/venv
COPY --from=static /app /app
WORKDIR /app
# HOST: other containers cannot reach 127.0.0.1 of this one. DURE_HOME: uploads and exports.
# REMAP_SIGTERM: a worker that is stopped waits DURE_DRAIN_SECONDS for its runs, then releases the others.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DURE_ENV=production \
    DURE_HOME=/data \
    HOST=0.0.0.0 \
    PORT=8000 \
    REMAP_SIGTERM=SIGQUIT
USER 10001:10001
VOLUME /data
EXPOSE 8000
# The probe of the web process. Disable it for the other processes.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
# Each process waits for the migrations that it needs, and then executes its command.
ENTRYPOINT ["python", "manage.py", "wait_for_migrations", "--"]
CMD ["python", "-m", "config.web"]
