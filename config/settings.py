"""The settings of Dure, read from environment variables.

`docs/configuration.md` lists the variables; `config/env.py` reads them and refuses malformed values.
"""

import gc
import hashlib
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _
from kombu.entity import Exchange, Queue

from config import dev, env
from jobs.redis import ANSWER_SECONDS

# What is imported from here on stays, so the garbage collector would look through it in vain again and again,
# which is a sixth of the start of a command. workers/apps.py switches it on again.
gc.disable()

BASE_DIR = Path(__file__).resolve().parent.parent

# --- The environment ---------------------------------------------------------------------------

DURE_ENV = env.choice("DURE_ENV", "development", ("development", "test", "production"))
PRODUCTION = DURE_ENV == "production"
DURE_HOME = env.folder("DURE_HOME", BASE_DIR / "var")
PORT = env.port("PORT", 8000)
FLOWER_PORT = env.port("FLOWER_PORT", 5555)
BASE_URL = env.text("DURE_BASE_URL", f"http://127.0.0.1:{PORT}").rstrip("/")

DEBUG = env.flag("DURE_DEBUG")
DEVELOPMENT_SECRET = "development-secret-" + hashlib.sha256(str(DURE_HOME).encode()).hexdigest()
SECRET_KEY = env.text("DURE_SECRET_KEY", DEVELOPMENT_SECRET)
CRON_SECRET = env.text("CRON_SECRET")
FLOWER_BASIC_AUTH = env.text("FLOWER_BASIC_AUTH")
# The address of Flower for operators' browsers. Pages link to it unless it is empty.
_flower_url = "" if PRODUCTION else f"http://127.0.0.1:{FLOWER_PORT}"
DURE_FLOWER_URL = env.text("DURE_FLOWER_URL", _flower_url).rstrip("/")

_servers = dev.running_servers(DURE_HOME)
DATABASE_URL = env.text("DATABASE_URL", _servers.database if _servers else "")
REDIS_URL = env.redis("REDIS_URL", _servers.redis if _servers else "redis://127.0.0.1:6379/0")

if PRODUCTION:
    _missing = [
        problem
        for wrong, problem in (
            (SECRET_KEY == DEVELOPMENT_SECRET, "DURE_SECRET_KEY is not set: give a long random one."),
            (
                SECRET_KEY.startswith("development-secret-"),
                "DURE_SECRET_KEY is the development one: give a long random one.",
            ),
            (len(SECRET_KEY) < 50, "DURE_SECRET_KEY is shorter than 50 characters."),
            (DEBUG, "DURE_DEBUG is on: unset it."),
            (
                not env.text("DATABASE_URL"),
                "DATABASE_URL is not set: production does not run on the embedded PostgreSQL.",
            ),
            (
                not env.text("REDIS_URL"),
                "REDIS_URL is not set: production does not run on the embedded Redis.",
            ),
            (
                not env.text("DURE_ALLOWED_HOSTS"),
                "DURE_ALLOWED_HOSTS is not set: name the hosts that clients use.",
            ),
            (
                ":" not in FLOWER_BASIC_AUTH or len(FLOWER_BASIC_AUTH.partition(":")[2]) < 12,
                "FLOWER_BASIC_AUTH is not set to user:password with a password of 12 characters or "
                "more: Flower would be open to anyone.",
            ),
        )
        if wrong
    ]
    if _missing:
        raise ImproperlyConfigured("DURE_ENV=production will not start:\n  " + "\n  ".join(_missing))

ALLOWED_HOSTS = env.words("DURE_ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.words("DURE_TRUSTED_ORIGINS")
# The number of trusted proxies before the web process. With 0 the header X-Forwarded-For is ignored.
DURE_PROXIES = env.integer("DURE_PROXIES", 0, high=10)

# --- Django ------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config.admin_app.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "django_filters",
    "django_htmx",  # only its static files: the htmx that the pages load
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "jobs",
    "scheduler",
    "exports",
    "workers",
    "config.doctor",  # only its command
]
MIDDLEWARE = [
    "config.health.ProbeMiddleware",
    "jobs.api.framework.request_id.RequestIdMiddleware",
    "config.metrics.RequestTimeMiddleware",
    "config.security.SecurityHeadersMiddleware",
    # Before all middleware that may answer a request itself, so that no answer below /api is HTML.
    "jobs.api.framework.middleware.ApiMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "jobs.api.framework.middleware.LanguageMiddleware",
    "config.preferences.TimeZoneMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Not for the API, which has its own authentication, nor for the views that config/urls.py exempts.
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "config.actor.ActorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = False
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "DIRS": [BASE_DIR / "config" / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# config/handler.py keeps the threads that run the views, and each thread keeps its connection.
DURE_WEB_THREADS = env.integer("DURE_WEB_THREADS", 16, low=1, high=512)
_database = env.postgres("DATABASE_URL", DATABASE_URL or "postgresql://127.0.0.1/dure")
# A peer that hangs must not hold locks that others wait for: every wait has a limit.
_limits = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "options": "-c lock_timeout=5s -c statement_timeout=30s -c idle_in_transaction_session_timeout=30s "
    # The plans of the engine's functions do not depend on the values, so PostgreSQL keeps them.
    "-c plan_cache_mode=force_generic_plan -c jit=off",
}
DATABASES = {
    "default": {
        **_database,
        "OPTIONS": _limits | _database["OPTIONS"],
        "CONN_MAX_AGE": env.integer("DURE_CONN_MAX_AGE", 60),
        "CONN_HEALTH_CHECKS": True,
        # A pooler such as PgBouncer gives each transaction another connection, without the cursor.
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = env.choice("DURE_LANGUAGE", "ko", ("ko", "en"))
LANGUAGES = [("ko", _("Korean")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "config" / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
TIME_ZONE = "Asia/Seoul"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "config" / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = False

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/login"
LOGIN_REDIRECT_URL = "/"

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = PRODUCTION and env.flag("DURE_SSL_REDIRECT", True)
# Probes come from the internal network and use plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = env.integer("DURE_HSTS_SECONDS", 31_536_000 if PRODUCTION else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
if DURE_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

DATA_UPLOAD_MAX_MEMORY_SIZE = env.integer("DURE_MAX_BODY_BYTES", 16 * 2**20)
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1_000
# Only these URLs accept larger bodies.
DURE_UPLOAD_PATHS = ("/api/replays", "/exports/replays")
DURE_MAX_UPLOAD_BYTES = env.integer("DURE_MAX_UPLOAD_BYTES", 512 * 2**20, low=2**20)
# The bearer token with which Prometheus reads /metrics: see config/metrics.py.
DURE_METRICS_TOKEN = env.text("DURE_METRICS_TOKEN")

# The link for a new password is offered only where it is set how to send mail.
DURE_MAIL_IS_SET = bool(env.text("DURE_EMAIL_HOST") or env.text("DURE_EMAIL_BACKEND"))
PASSWORD_RESET_TIMEOUT = 3_600
EMAIL_BACKEND = env.text("DURE_EMAIL_BACKEND", "django.core.mail.backends.smtp.EmailBackend")
EMAIL_HOST = env.text("DURE_EMAIL_HOST", "localhost")
EMAIL_PORT = env.port("DURE_EMAIL_PORT", 25)
EMAIL_HOST_USER = env.text("DURE_EMAIL_USER")
EMAIL_HOST_PASSWORD = env.text("DURE_EMAIL_PASSWORD")
EMAIL_USE_TLS = env.flag("DURE_EMAIL_TLS")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DURE_EMAIL_FROM", "dure@localhost")

# Single sign-on by OpenID Connect: off without an issuer. docs/operations.md explains it.
DURE_OIDC_ISSUER = env.issuer("DURE_OIDC_ISSUER", http=not PRODUCTION)
DURE_OIDC_CLIENT_ID = env.text("DURE_OIDC_CLIENT_ID")
DURE_OIDC_CLIENT_SECRET = env.text("DURE_OIDC_CLIENT_SECRET")
DURE_OIDC_SCOPES = env.text("DURE_OIDC_SCOPES", "openid email profile")
# The claim by which a user is known at the first sign-in: a verified address, or a name.
DURE_OIDC_USER_CLAIM = env.choice("DURE_OIDC_USER_CLAIM", "email", ("email", "preferred_username"))
DURE_OIDC_CREATE_USERS = env.flag("DURE_OIDC_CREATE_USERS")
DURE_OIDC_STAFF_CLAIM = env.text("DURE_OIDC_STAFF_CLAIM")
DURE_OIDC_STAFF_VALUE = env.text("DURE_OIDC_STAFF_VALUE")
if DURE_OIDC_ISSUER and not (DURE_OIDC_CLIENT_ID and DURE_OIDC_CLIENT_SECRET):
    raise ImproperlyConfigured("DURE_OIDC_ISSUER needs DURE_OIDC_CLIENT_ID and DURE_OIDC_CLIENT_SECRET.")
if "openid" not in DURE_OIDC_SCOPES.split():
    raise ImproperlyConfigured("DURE_OIDC_SCOPES must contain openid.")
if bool(DURE_OIDC_STAFF_CLAIM) != bool(DURE_OIDC_STAFF_VALUE):
    raise ImproperlyConfigured("DURE_OIDC_STAFF_CLAIM and DURE_OIDC_STAFF_VALUE belong together.")

# --- The engine --------------------------------------------------------------------------------

# The roles that every installation knows. A Task or a job may name any other: see jobs/roles.py.
DURE_ROLES = ("PO", "Architect", "FE", "BE", "QA", "DevOps", "export", "default")
# The queue of the engine's own short tasks, separate from everything that clients can fill.
DURE_CONTROL_QUEUE = "control"
# The queue of webhooks and mail, which wait for servers of third parties.
DURE_NOTICES_QUEUE = "notices"
# A worker that has not renewed a lease for this long has lost the run.
DURE_LEASE_SECONDS = env.seconds("DURE_LEASE_SECONDS", 30.0, low=1.0)
DURE_HEARTBEAT_SECONDS = env.seconds("DURE_HEARTBEAT_SECONDS", DURE_LEASE_SECONDS / 3)
DURE_SWEEP_SECONDS = env.seconds("DURE_SWEEP_SECONDS", 5.0, low=0.2)
# The time between the request to stop a run and the kill of its process group.
DURE_GRACE_SECONDS = env.seconds("DURE_GRACE_SECONDS", 10.0, low=0.1)
# A message that no worker has claimed is republished after this, then after growing intervals.
DURE_REPUBLISH_SECONDS = env.seconds("DURE_REPUBLISH_SECONDS", 10.0, low=0.5)
# A job that was sent and that no worker has claimed for this long gives its slot back.
DURE_CLAIM_SECONDS = env.seconds("DURE_CLAIM_SECONDS", 60.0, low=1.0)
# How long after a message came its runs may bring along the next; 0 for never. See jobs/burst.py.
DURE_BURST_MS = env.integer("DURE_BURST_MS", 100, low=0, high=1_000)
DURE_MAX_CRASHES = env.integer("DURE_MAX_CRASHES", 3, low=1, high=100)
DURE_MAX_JOBS_PER_SUBMISSION = env.integer("DURE_MAX_JOBS_PER_SUBMISSION", 10_000, low=1)
DURE_MAX_EDGES_PER_SUBMISSION = env.integer("DURE_MAX_EDGES_PER_SUBMISSION", 100_000, low=1)
DURE_MAX_ARGS_BYTES = env.integer("DURE_MAX_ARGS_BYTES", 256 * 1024, low=1024)
DURE_MAX_RESULT_BYTES = env.integer("DURE_MAX_RESULT_BYTES", 256 * 1024, low=1024)
DURE_MAX_RESOLVED_ARGS_BYTES = env.integer("DURE_MAX_RESOLVED_ARGS_BYTES", 2**20, low=1024)
# The log of an attempt keeps its last lines up to this size; 0 keeps none.
DURE_RUN_LOG_BYTES = env.integer("DURE_RUN_LOG_BYTES", 2**20, high=64 * 2**20)
# Step queues: docs/step-queues.md.
DURE_MAX_STEPS_PER_QUEUE = env.integer("DURE_MAX_STEPS_PER_QUEUE", 1_000, low=1, high=10_000)
DURE_MAX_CONTEXT_BYTES = env.integer("DURE_MAX_CONTEXT_BYTES", 256 * 1024, low=1024)
# The number of retries of a backward operation, and the delay of the first one.
DURE_STEP_BACKWARD_RETRIES = env.integer("DURE_STEP_BACKWARD_RETRIES", 3, high=100)
DURE_STEP_BACKWARD_DELAY_SECONDS = env.seconds("DURE_STEP_BACKWARD_DELAY_SECONDS", 5.0, low=0.0)
DURE_STEP_NOTICE_RETRIES = env.integer("DURE_STEP_NOTICE_RETRIES", 8, high=100)
DURE_RETENTION_DAYS = env.integer("DURE_RETENTION_DAYS", 30, low=1, high=36_500)
# The names of the programs that `command.run` may start. Only the PATH below is searched for them.
DURE_COMMANDS = env.words("DURE_COMMANDS", ("echo", "date", "uname") if not PRODUCTION else ())
DURE_COMMAND_PATH = env.text("DURE_COMMAND_PATH", "/usr/local/bin:/usr/bin:/bin")
# Internal networks that `http.request` and webhooks may reach.
DURE_HTTP_ALLOW = env.words("DURE_HTTP_ALLOW")
DURE_WORKER_MODULES = env.words("DURE_WORKER_MODULES")

# --- Exports -----------------------------------------------------------------------------------

# The folder of exported files (`jobs.export.path` in the contract), and that of uploaded replays.
DURE_EXPORT_PATH = env.folder("DURE_EXPORT_PATH", DURE_HOME / "exports")
DURE_REPLAY_PATH = env.folder("DURE_REPLAY_PATH", DURE_HOME / "replays")
# A running export without a message for this long has failed.
DURE_EXPORT_STALL_SECONDS = env.seconds("DURE_EXPORT_STALL_SECONDS", 60.0, low=1.0)
# By type, where the types differ.
DURE_EXPORT_STALL_SECONDS_BY_TYPE = {
    kind: env.seconds(f"DURE_EXPORT_STALL_SECONDS_{kind}", DURE_EXPORT_STALL_SECONDS, low=1.0)
    for kind in ("MP4", "THUMBNAIL", "WEBM", "GIF")
}
# How many bytes the replays and results of one owner may have; 0: any number.
DURE_EXPORT_QUOTA_BYTES = env.integer("DURE_EXPORT_QUOTA_BYTES", 0, high=2**60)
# False if only workers in other languages read job.requests.
DURE_EXPORT_WORKER = env.flag("DURE_EXPORT_WORKER", True)
# How long after its end an export can be downloaded, and is listed; 0 for ever. Only users delete replays.
DURE_EXPORT_FILE_DAYS = env.integer("DURE_EXPORT_FILE_DAYS", 90, high=36_500)
DURE_EXPORT_RETENTION_DAYS = env.integer("DURE_EXPORT_RETENTION_DAYS", 365, high=36_500)
# The last messages that remain in job.deadletter. Each is also a row, which stays until an operator decides.
DURE_DEAD_LETTER_STREAM_LENGTH = env.integer("DURE_DEAD_LETTER_STREAM_LENGTH", 10_000, low=100, high=10**7)
# A listener takes over messages that another one has read and not acknowledged for this long.
DURE_STREAM_CLAIM_SECONDS = env.seconds("DURE_STREAM_CLAIM_SECONDS", 30.0, low=0.1)

# --- Celery ------------------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL  # config/broker.py has the transport
CELERY_RESULT_BACKEND = REDIS_URL  # only for the counters of chords; results are in PostgreSQL
CELERY_TIMEZONE = TIME_ZONE
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_QUEUES = [
    Queue(name, Exchange(name), routing_key=name)
    for name in (*DURE_ROLES, DURE_CONTROL_QUEUE, DURE_NOTICES_QUEUE)
]
CELERY_TASK_CREATE_MISSING_QUEUES = True
CELERY_TASK_IGNORE_RESULT = True  # PostgreSQL holds the results
# JSON only, and no pickle: a message cannot contain code.
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = CELERY_EVENT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = CELERY_RESULT_ACCEPT_CONTENT = ["json"]
# Leases rescue lost runs. With acks_late a long task was started three times after a visibility timeout;
# with reject_on_worker_lost a task that kills its worker was repeated without end.
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_REJECT_ON_WORKER_LOST = False
# A worker takes only what it can start now, so a cancel or a new priority still counts.
CELERY_WORKER_POOL = "jobs.worker.pool:EnginePool"
CELERY_WORKER_CONSUMER = "jobs.worker.consumer:EngineConsumer"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
# A worker that is stopped waits this long for its runs, then releases them to other workers. This needs
# REMAP_SIGTERM=SIGQUIT in its environment: without it Celery waits until all runs have ended.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = env.seconds("DURE_DRAIN_SECONDS", 8.0, low=0.0)
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# The Procfile's -E enables them; they cost a twentieth of the throughput.
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Only the worker stores its reserved messages, and returns them when it stops. Storing them in Redis
    # as well costs two round trips for each message, and the sweep republishes lost messages anyway.
    "ack_emulation": False,
    # A frozen Redis blocked for nine minutes without these. A publish waits for less: see config/celery.py.
    "socket_timeout": 10,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 25,
    # A publish is not retried: kombu's own retries took six seconds.
    "max_retries": 1,
    "interval_start": 0,
    # Four levels share the workers fairly among offices: see jobs/publish.py. Within a level the worker's
    # queues take turns, kombu's default: otherwise one role that is always full starves the others.
    "priority_steps": [0, 3, 6, 9],
}
CELERY_REDIS_SOCKET_TIMEOUT = CELERY_REDIS_SOCKET_CONNECT_TIMEOUT = ANSWER_SECONDS
CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = {
    "socket_timeout": ANSWER_SECONDS,
    "socket_connect_timeout": ANSWER_SECONDS,
}
CELERY_REDIS_SOCKET_KEEPALIVE = True
CELERY_TASK_PUBLISH_RETRY = False  # the sweep republishes, so no caller waits for the broker
CELERY_RESULT_EXPIRES = 3600
CELERY_RESULT_CHORD_EXPIRES = 30 * 86_400  # longer than the longest graph takes
# Celery's Django fixup closes the connection around every task; ours is kept and checked on error.
CELERY_DB_REUSE_MAX = 2**31
CELERY_BEAT_SCHEDULER = "scheduler.beat:Scheduler"
# Less than a second, so that an edit of a schedule is in effect within a second.
CELERY_BEAT_MAX_LOOP_INTERVAL = 0.8
CELERY_BEAT_SYNC_EVERY = 1  # a beat that dies has recorded what it sent; the next one continues from there
DJANGO_CELERY_BEAT_TZ_AWARE = True

# --- The API -----------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "jobs.api.framework.authentication.TokenAuthentication",
        "jobs.api.framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["jobs.api.framework.parsing.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "jobs.api.framework.pagination.PagePagination",
    "DEFAULT_FILTER_BACKENDS": ["jobs.api.framework.filtering.FilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "jobs.api.framework.schema.Schema",
    "DEFAULT_METADATA_CLASS": "jobs.api.framework.metadata.Methods",
    "DEFAULT_THROTTLE_CLASSES": [
        "jobs.api.framework.throttling.AnonymousThrottle",
        "jobs.api.framework.throttling.UserThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anonymous": env.text("DURE_RATE_ANONYMOUS", "60/min"),
        "user": env.text("DURE_RATE_USER", "6000/min"),
        # Answers of 401, by address.
        "refused": env.text("DURE_RATE_REFUSED", "300/min"),
        "login": env.text("DURE_RATE_LOGIN", "10/min"),
        "reset": env.text("DURE_RATE_RESET", "5/h"),
    },
    "EXCEPTION_HANDLER": "jobs.api.framework.problem_details.handle",
    "NUM_PROXIES": DURE_PROXIES,
    "PAGE_SIZE": 50,
    "URL_FORMAT_OVERRIDE": None,
    "COERCE_DECIMAL_TO_STRING": False,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Dure",
    "DESCRIPTION": "Runs jobs in the right order, at the right time, once, within limits, and visibly.",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none", "displayRequestDuration": True},
    "SCHEMA_PATH_PREFIX": r"/api",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # exports/api/urls.py registers the converter `id`.
    "PATH_CONVERTER_OVERRIDES": {"id": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}},
    # Fields of the same name with different choices need a name for each set.
    "ENUM_NAME_OVERRIDES": {
        "JobStatus": "jobs.states.JobStatus",
        "JobExecutionStatus": "jobs.schemas.EXECUTION_STATUSES",
        "MemberRole": "jobs.states.MemberRole",
        "EventType": "jobs.states.CLIENT_EVENTS",
        "WorkflowStatus": "scheduler.states.WorkflowStatus",
        "RunStatus": "scheduler.states.RunStatus",
        "QueueState": "scheduler.steps.states.QueueState",
        "ScheduleKind": "scheduler.api.schemas.KINDS",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "jobs.api.framework.openapi_errors.add_error_responses",
        "config.openapi.add_introduction",
        "config.openapi.describe_defaults",
    ],
}

# --- Logs --------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        # One line for each record, without secrets.
        "line": {
            "()": "config.logs.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("DURE_LOG_LEVEL", "INFO")},
    "loggers": {
        # Celery logs up to three lines for each task and tick, which would hide the others.
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
        # uvicorn has handlers of its own, which do not remove secrets; this entry removes the handlers.
        "uvicorn": {"level": "INFO", "propagate": True},
        "uvicorn.access": {"level": "WARNING", "propagate": True},
    },
}

# Whatever sets up Django has the Celery app that `shared_task` and each `delay` use. It is imported last,
# since what it imports may read these settings.
from config import celery as celery  # noqa: E402
