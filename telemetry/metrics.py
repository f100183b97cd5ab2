"""The metrics of a process. `docs/operations.md` lists them for operators."""

from __future__ import annotations

from telemetry.families import CounterFamily, GaugeFamily, HistogramFamily, LevelFamily

_QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SLOW = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)

HTTP_REQUESTS = CounterFamily("makegood_http_requests_total", "HTTP responses", ("area", "method", "status"))
HTTP_SECONDS = HistogramFamily(
    "makegood_http_request_seconds", "Time until a response begins", ("area",), buckets=_QUICK
)
STREAMS_OPEN = GaugeFamily("makegood_streams_open", "Open event streams and requests that wait for a reply")

TURNS = CounterFamily("makegood_turns_total", "Turns that ended", ("status", "origin"), by_tenant=True)
FIRST_TOKEN = HistogramFamily(
    "makegood_first_token_seconds", "Time from a message to the first word of its reply", buckets=_SLOW, by_tenant=True
)

JOBS_FINISHED = CounterFamily("makegood_jobs_finished_total", "Jobs that ended", ("lane", "state"), by_tenant=True)
JOB_SECONDS = HistogramFamily("makegood_job_seconds", "Time of one attempt at a job", ("lane",), buckets=_SLOW)
LEASES_LOST = CounterFamily("makegood_leases_lost_total", "Attempts whose job another worker has taken over", ("lane",))
LEASES_EXPIRED = CounterFamily("makegood_leases_expired_total", "Jobs whose worker fell silent", ("lane",))

EFFECTS = CounterFamily("makegood_effects_total", "Effects that entered a state", ("kind", "state"), by_tenant=True)

MODEL_CALLS = CounterFamily(
    "makegood_model_calls_total",
    "Model calls by outcome: ok, or the code of the error",
    ("provider", "model", "outcome"),
    by_tenant=True,
)
MODEL_TOKENS = CounterFamily(
    "makegood_model_tokens_total",
    "Tokens by kind: input, cached (a part of input) or output",
    ("provider", "model", "kind"),
    by_tenant=True,
)
MODEL_COST = CounterFamily(
    "makegood_model_cost_usd_total", "Cost of models with a price", ("provider", "model"), by_tenant=True
)
MODEL_SECONDS = HistogramFamily(
    "makegood_model_call_seconds", "Time of a model call with its retries", ("provider", "model"), buckets=_SLOW
)
MODEL_FIRST_TOKEN = HistogramFamily(
    "makegood_model_first_token_seconds",
    "Time to the first token of a streamed call",
    ("provider", "model"),
    buckets=_SLOW,
)
BREAKERS_OPEN = LevelFamily(
    "makegood_model_breakers_open", "Circuit breakers that refuse calls, one for each tenant", ("provider",)
)

DB_CONNECTIONS = LevelFamily("makegood_db_connections", "Connections of the pool", ("role", "state"))
POOL_WAITS = CounterFamily("makegood_db_pool_waits_total", "Requests that waited for a connection", ("role",))
POOL_WAIT_SECONDS = CounterFamily("makegood_db_pool_wait_seconds_total", "Time waited for a connection", ("role",))
THREAD_WAITS = CounterFamily("makegood_db_thread_waits_total", "Calls that waited for a database thread", ("threads",))
THREAD_WAIT_SECONDS = CounterFamily(
    "makegood_db_thread_wait_seconds_total", "Time waited for a database thread", ("threads",)
)

PROCESS_CPU = CounterFamily("makegood_process_cpu_seconds_total", "User and system time of the process")
PROCESS_MEMORY = LevelFamily("makegood_process_resident_bytes", "Resident memory of the process")
PROCESS_STARTED = LevelFamily("makegood_process_start_time_seconds", "Start of the process, as a Unix time")
LOOP_LAG = LevelFamily("makegood_event_loop_lag_seconds", "Most that the event loop was late in the last seconds")
INFO = LevelFamily("makegood_info", "Always 1, with the version that runs", ("version", "python"))
