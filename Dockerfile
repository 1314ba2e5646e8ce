# One image for every process of the Procfile: compose.yaml shows how they go together.
# Same version as the tests run on.
ARG PYTHON=python:3.11-slim

FROM ${PYTHON} AS packages
RUN python -m venv /opt/venv
COPY requirements.txt .
# Only what is locked, and only wheels: nothing is built, so no compiler is needed.
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
        --no-deps --require-hashes --only-binary :all: -r requirements.txt

FROM packages AS static
WORKDIR /app
COPY manage.py ./
COPY config config
COPY jobs jobs
COPY scheduler scheduler
COPY exports exports
COPY workers workers
# Asks neither the database nor Redis. As development, since there are no secrets here to refuse.
RUN DURE_ENV=development /opt/venv/bin/python manage.py collectstatic --no-input \
    && /opt/venv/bin/python -m compileall -q .

FROM ${PYTHON}
RUN groupadd --gid 10001 dure \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin dure \
    && install -d -o 10001 -g 10001 -m 700 /data
COPY --from=packages /opt/venv /opt/venv
COPY --from=static /app /app
WORKDIR /app
# HOST: inside a container 127.0.0.1 is reached by nobody else. DURE_HOME: uploads and what is made of them.
# REMAP_SIGTERM: a worker that is told to stop waits DURE_DRAIN_SECONDS for its runs and hands back the rest.
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
# Of the web process; whoever runs another one turns it off or gives it one of its own.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
# Every process waits for the migrations that it needs, says for which, and then becomes its command.
ENTRYPOINT ["python", "manage.py", "wait_for_migrations", "--"]
CMD ["python", "-m", "config.web"]
