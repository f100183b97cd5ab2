"""Django settings. The operator configures them by environment variables."""

from __future__ import annotations

import os
from typing import Any

from config import environment
from config.environment import BASE_DIR, env
from config.file_places import file_places

DEBUG = env.bool("MAKEGOOD_DEBUG", default=False)
SECRET_KEY = environment.text("SECRET_KEY", why="a long random string that signs sessions.")
ENCRYPTION_KEYS = environment.text(
    "MAKEGOOD_ENCRYPTION_KEYS", why="Fernet keys for secrets at rest, newest first, separated by commas."
).split(",")
DATA_DIR = env.path("MAKEGOOD_DATA", default=BASE_DIR / ".data")
BASE_URL = env.str("MAKEGOOD_BASE_URL", default="http://127.0.0.1:8000").rstrip("/")
ALLOWED_HOSTS = env.list("MAKEGOOD_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
IS_HTTPS = BASE_URL.startswith("https://")
CSRF_TRUSTED_ORIGINS = [BASE_URL] if IS_HTTPS else []
# The proxies whose forwarded client addresses count (config.trusted_proxies).
TRUSTED_PROXIES = environment.networks("MAKEGOOD_TRUSTED_PROXIES")

INSTALLED_APPS = [
    # Its translations of staff's interface come before those of the libraries.
    "console",
    "config.apps.MakegoodAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "rest_framework",
    "drf_spectacular",
    "projects",
    "jobs",
    "notices",
    "tools",
    "todos",
    "conversations",
    "privacy",
    "operations",
]

MIDDLEWARE = [
    "projects.common.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.static_files.VersionedMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "projects.accounts.languages.staff_language_middleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "projects.accounts.password_hashing.too_many_hashes",
    "console.error_pages.error_pages",
]

# The middleware of API requests (config.asgi).
API_MIDDLEWARE = [
    "projects.common.middleware.RequestIdMiddleware",
    "projects.api.session.session_middleware",
]

# The middleware of probes, which know no host name of the site.
PROBE_MIDDLEWARE = ["projects.common.middleware.RequestIdMiddleware"]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = False

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "projects.accounts.accounts.sign_in_context",
                "console.layout.account_pages_context",
            ],
            "builtins": ["console.templatetags.fields", "console.templatetags.icons"],
        },
    },
]

DB_POOL, DB_THREADS = environment.connections()

# None of the three roles is a superuser. mg_app runs the product, mg_ops works across tenants, mg_owner migrates.
DATABASES = {
    "default": environment.database("DATABASE_URL", role="mg_app", pool=DB_POOL),
    "ops": environment.database("OPS_DATABASE_URL", role="mg_ops", pool=4),
    "owner": environment.database("MIGRATE_DATABASE_URL", role="mg_owner", pool=2),
    **environment.replica(),
}
DATABASE_ROUTERS = ["tenancy.replica.ReplicaRouter", "tenancy.scope.Router"]
# Reports read from the replica while it is at most this far behind.
REPLICA_LAG_SECONDS = env.float("MAKEGOOD_REPLICA_LAG_SECONDS", default=10.0)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = environment.redis_url()
# Arguments of every connection to Redis, and the seconds of silence after which one is lost.
REDIS_SOCKET = environment.redis_socket()
REDIS_SILENCE_SECONDS = environment.redis_silence_seconds()

AUTH_USER_MODEL = "projects.User"
# The few threads in which passwords are hashed, of each process.
HASH_THREADS = env.int("MAKEGOOD_HASH_THREADS", default=max(1, (os.cpu_count() or 1) // 2))
PASSWORD_HASHERS = [
    "projects.accounts.password_hashing.QueuedHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
AUTHENTICATION_BACKENDS = [
    "projects.accounts.backends.PasswordBackend",
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
# If False, people can join only by invitation.
SIGNUP = env.bool("MAKEGOOD_SIGNUP", default=True)
EMAIL_HOST = env.str("EMAIL_HOST", default="")
VERIFY_EMAIL = environment.verified_email(EMAIL_HOST)
ACCOUNT_ADAPTER = "projects.accounts.accounts.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "projects.accounts.accounts.LoginForm",
    "reset_password": "projects.accounts.accounts.ResetPasswordForm",
    "signup": "projects.accounts.accounts.SignupForm",
}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if VERIFY_EMAIL else "none"
# Only in the browser that signed up. Elsewhere the link confirms the address and asks for the password.
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = bool(EMAIL_HOST)
ACCOUNT_SIGNUP_REDIRECT_URL = "welcome"
# An "ip" is an address range here (projects.accounts.sign_in_limits).
ACCOUNT_RATE_LIMITS = {
    "login": "60/m/ip",
    "wrong_password": "30/m/ip",
    # Wrong codes and passkeys of the second step. The key is a user whose password was right.
    "login_failed": "10/m/ip,5/300s/key",
    "invite": "30/h/user",
    "passkey_question": "300/m/ip",
    "passkey_copied": "1/h/key",
}
MFA_ADAPTER = "projects.accounts.accounts.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "add_webauthn": "console.people.passkey_forms.AddPasskeyForm",
    "authenticate_webauthn": "console.people.passkey_forms.PasskeyForm",
    "reauthenticate_webauthn": "console.people.passkey_forms.ReauthenticateForm",
    "login_webauthn": "console.people.passkey_forms.SignInForm",
    "edit_webauthn": "console.people.passkey_forms.RenameForm",
}
# The same limit as for passwords: colleagues share an IP address.
MFA_RATE_LIMITS = {"webauthn_login": "60/m/ip"}
# Without verification, a verified address can't be required.
MFA_ALLOW_UNVERIFIED_EMAIL = not VERIFY_EMAIL

SESSION_ENGINE = "projects.accounts.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
# Sent with responses over TLS only (projects.common.middleware). A year, if the public address is one of TLS.
HSTS_SECONDS = env.int("MAKEGOOD_HSTS_SECONDS", default=31_536_000 if IS_HTTPS else 0)
HSTS_SUBDOMAINS = env.bool("MAKEGOOD_HSTS_SUBDOMAINS", default=False)
HSTS_PRELOAD = env.bool("MAKEGOOD_HSTS_PRELOAD", default=False)
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "media-src": ["'self'"],
        "manifest-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1, **REDIS_SOCKET},
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
# The languages in which the product itself speaks to customers.
LANGUAGES = [
    ("en", "English"),
    ("it", "Italian"),
    ("de", "German"),
    ("fr", "French"),
    ("es", "Spanish"),
    ("pt", "Portuguese"),
    ("nl", "Dutch"),
    ("ar", "Arabic"),
    ("he", "Hebrew"),
]
# The languages of staff's interface, by the names that their speakers use.
STAFF_LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("it", "Italiano"),
    ("es", "Español"),
    ("fr", "Français"),
]
# Texts for customers. Those for staff are in console/locale.
LOCALE_PATHS = [BASE_DIR / "locale"]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
# Where the contents of files are: new ones in the first place, earlier ones in any of them.
FILE_PLACES = file_places()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.VersionedStorage"},
    **{name: place for name, place in FILE_PLACES.items() if place},
}

EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend" if EMAIL_HOST else "projects.common.mail.LogBackend"
EMAIL_PORT = env.int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False)
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="Makegood <makegood@localhost>")

# config.asgi limits API bodies to 256 kB before Django reads them.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

# Limits of the API (projects.api.throttling): per key or member, and per project for all of them together.
API_REQUESTS_PER_MINUTE = env.int("MAKEGOOD_API_REQUESTS_PER_MINUTE", default=600)
PROJECT_REQUESTS_PER_MINUTE = env.int("MAKEGOOD_PROJECT_REQUESTS_PER_MINUTE", default=1800)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "projects.api.authentication.ApiKeyAuthentication",
        "projects.api.authentication.MemberAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["projects.api.authentication.HasScope"],
    "DEFAULT_PARSER_CLASSES": ["projects.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_THROTTLE_CLASSES": ["projects.api.throttling.KeyThrottle"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "projects.api.pagination.Pages",
    "EXCEPTION_HANDLER": "projects.api.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Makegood API",
    "DESCRIPTION": "Talk to a project's agent, and follow its promises and their outcomes.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    # Request bodies mark their required fields. Without such a mark, a field is optional.
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "projects.api.openapi_errors.add_error_components",
        "projects.api.schema.add_created_links",
        "projects.api.openapi_examples.add_examples",
    ],
    # Names of enums that requests and responses share, or whose names collide.
    "ENUM_NAME_OVERRIDES": {
        "AttributeOriginEnum": "projects.records.attributes.Origin",
        "AttributeTypeEnum": "projects.models.attribute.AttributeType",
        "BookingKindEnum": "tools.models.BookingKind",
        "ChannelEnum": "conversations.models.Channel",
        "ConsentKindEnum": "conversations.models.ConsentKind",
        "ConsentSourceEnum": "conversations.models.ConsentSource",
        "DeliveryStateEnum": "tools.models.DeliveryState",
        "ErasureStateEnum": "privacy.models.ErasureState",
        "EventTargetEnum": "tools.models.SubscriptionTarget",
        "JobStateEnum": "jobs.models.State",
        "ReceiptStateEnum": "tools.models.ReceiptState",
        "ResourceKindEnum": "tools.models.ResourceKind",
        "RoleEnum": "projects.models.Role",
        "SecondApproverEnum": "todos.models.SecondApprover",
        "SpeakerEnum": ["customer", "agent"],
        "TagColorEnum": "conversations.models.TagColor",
        "TicketChannelEnum": "tools.models.TicketChannel",
        "TicketPriorityEnum": "tools.models.TicketPriority",
        "TicketStateEnum": "tools.models.TicketState",
        "ToolOriginEnum": ["built-in", "custom"],
        "TurnOriginEnum": "conversations.models.turn.Origin",
        "VerdictChangeEnum": "conversations.evaluation.replay.Kind",
    },
}

# The model
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="https://api.openai.com/v1").rstrip("/")
OFFLINE_MODEL = env.bool("MAKEGOOD_OFFLINE", default=False)
MODEL = env.str("MAKEGOOD_MODEL", default="offline-large" if OFFLINE_MODEL else "gpt-4.1")
FAST_MODEL = env.str("MAKEGOOD_FAST_MODEL", default="offline-fast" if OFFLINE_MODEL else "gpt-4.1-mini")
MODEL_PRICES = environment.model_prices()
ORGANIZATION_LIMITS = environment.organization_limits()
OUTBOUND_ALLOW = env.list("MAKEGOOD_OUTBOUND_ALLOW", default=[])
# The address of a provider of calls whose caller types, for the playground.
OFFLINE_CALLS_URL = env.str("MAKEGOOD_OFFLINE_CALLS", default="").rstrip("/")
# The address of providers of SMS, WhatsApp and Telegram whose customer types, for the simulated phone.
OFFLINE_MESSENGERS_URL = env.str("MAKEGOOD_OFFLINE_MESSENGERS", default="").rstrip("/")
# Serve made-up orders to the demo's agent at /demo/shop.
DEMO_SHOP = env.bool("MAKEGOOD_DEMO_SHOP", default=OFFLINE_MODEL)

# Jobs
LEASE_SECONDS: float | None = env.float("MAKEGOOD_LEASE_SECONDS", default=None)
SWEEP_SECONDS = env.float("MAKEGOOD_SWEEP_SECONDS", default=2.0)
# Open connections of each worker process to mail servers that announce new e-mails at once.
MAILBOX_CONNECTIONS = env.int("MAKEGOOD_MAILBOX_CONNECTIONS", default=200)
# The file that a worker touches while it is alive.
ALIVE_FILE = env.str("MAKEGOOD_ALIVE_FILE", default="")

# Metrics and logs
VERSION = environment.version()
METRICS_TOKEN = env.str("MAKEGOOD_METRICS_TOKEN", default="")
METRICS_ADDRESS = environment.address("MAKEGOOD_METRICS_ADDRESS")
METRICS_DIR = environment.metrics_directory(DATA_DIR)
METRICS_TENANTS = env.bool("MAKEGOOD_METRICS_TENANTS", default=False)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "projects.common.logs.RedactingFormatter", "fmt": environment.log_line()},
        "json": {"()": "projects.common.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": environment.log_format()}},
    "root": {"handlers": ["console"], "level": os.environ.get("MAKEGOOD_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        # Model calls are stored as rows, so a log line for each adds nothing. fido2 would log the owners of passkeys.
        **{name: {"level": "WARNING"} for name in ("kombu", "amqp", "httpx2", "fido2")},
        # uvicorn's own lines, in the form of all others.
        "uvicorn": {"level": "INFO", "handlers": [], "propagate": True},
        "uvicorn.access": {"level": "WARNING"},
    },
}
