# The commands of this repository. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help up dev test check static format-check types contracts templates sql dead-code dependencies deploy-check bench chaos fuzz schema pictures docs lock clean install-dev

PY := .venv/bin/python
# Where it is set, each process would compile the code that it imports again.
unexport PYTHONDONTWRITEBYTECODE
RUNTIME := requirements.txt requirements-embedded.txt
# Runs a command with a PostgreSQL and a Redis of its own, on free ports, which stop when it ends.
WITH_SERVERS := $(PY) -m config.dev.with_servers

# The first Python that is new enough creates .venv and installs the locked packages. -I keeps the folder of
# the script, whose modules could hide those of the standard library, off the path.
define INSTALL
for python in $(or $(PYTHON),.venv/bin/python python3.11 python3.12 python3.13 python3.14 python3); do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; \
done; \
[ "$$python" ] || { echo "Dure needs Python 3.11 or newer and found none here: install it, or name it: make $@ PYTHON=/path/to/python3.11" >&2; exit 1; }; \
"$$python" -I config/dev/install.py
endef

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'make up reads .env and honours PORT, FLOWER_PORT, DURE_HOME, DATABASE_URL, REDIS_URL, DEMO=0 and LOGS=1; make test takes ARGS="-k word".'

up: ## install and start the whole system; Ctrl-C stops it
	@$(INSTALL) --steps 7 $(RUNTIME) && exec $(PY) -m config.dev.up

dev: ## like make up; starts the programs again when a source file is saved
	@$(INSTALL) --steps 7 $(RUNTIME) && RELOAD=1 LOGS=$${LOGS:-1} exec $(PY) -m config.dev.up

test: install-dev ## run the whole suite on servers of its own
	@exec $(WITH_SERVERS) -- $(PY) -m pytest -n auto $(ARGS)

check: ARGS += --cov --cov-report=term --durations=15
check: install-dev static deploy-check test ## run all checks of CI, including the suite

static: format-check types contracts templates sql dead-code dependencies ## run the static checks

format-check:
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

types:
	$(PY) -m mypy .

contracts:
	PYTHONPATH=sdk .venv/bin/lint-imports

templates:
	.venv/bin/djlint config jobs scheduler exports --lint --quiet

sql:
	.venv/bin/sqlfluff lint --processes 2 jobs scheduler exports

dead-code:
	.venv/bin/vulture

dependencies:
	.venv/bin/deptry .
	cd sdk && ../.venv/bin/deptry .

engine-migration: install-dev ## write the migration for changed SQL functions
	$(WITH_SERVERS) -- $(PY) manage.py freeze_sql

# Sets the values that production requires, so that the check reports only real problems.
deploy-check:
	DURE_ENV=production DURE_SECRET_KEY=only-for-this-check-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGH \
	DATABASE_URL=postgresql://dure@127.0.0.1/dure REDIS_URL=redis://127.0.0.1:6379/0 \
	DURE_ALLOWED_HOSTS=dure.example FLOWER_BASIC_AUTH=admin:only-for-this-check \
	$(PY) manage.py check --deploy --fail-level WARNING
	$(WITH_SERVERS) -- $(PY) manage.py makemigrations --check --dry-run
	$(PY) -m pip check --disable-pip-version-check

bench: install-dev ## measure throughput and latency
	@exec $(WITH_SERVERS) --durable -- $(PY) -m tests.bench $(ARGS)

chaos: install-dev ## kill and freeze processes for a while, and check that every promise holds
	@exec $(PY) -m tests.chaos $(ARGS)

fuzz: install-dev ## call every operation of the API with generated requests (Schemathesis)
	@exec $(PY) -m tests.fuzz $(ARGS)

schema: install-dev ## write the API's schema to docs/openapi.yaml
	@$(PY) manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

pictures: install-dev ## update the pictures of the docs, from the demonstration
	@exec $(PY) -m tests.pictures

docs: install-dev ## build the documentation as a searchable site, in site/
	@exec $(PY) -m config.dev.docs_site

LOCK := $(PY) -m uv pip compile -q --no-header --python-version 3.11 --universal --generate-hashes

lock: install-dev ## resolve the dependencies of pyproject.toml into requirements*.txt, with hashes
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) --group embedded -c requirements.txt -o requirements-embedded.txt
	$(LOCK) --group dev -c requirements.txt -c requirements-embedded.txt -o requirements-dev.txt

clean: ## remove installed and cached files, but keep var/ and its data
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache staticfiles site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

install-dev:
	@$(INSTALL) $(RUNTIME) requirements-dev.txt
