"""Celery's settings. Early acknowledgement, no results, no ETA, no retry: a lost message costs a sweep, never work."""

from __future__ import annotations

from config.environment import redis_url

broker_url = redis_url()
broker_connection_retry_on_startup = True
broker_pool_limit = 16
broker_transport_options = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "health_check_interval": 10,
    "global_keyprefix": "makegood:",
}
task_publish_retry = False
task_ignore_result = True
task_create_missing_queues = True
worker_prefetch_multiplier = 1
worker_cancel_long_running_tasks_on_connection_loss = True
worker_hijack_root_logger = False
timezone = "UTC"
beat_schedule = {"sweep": {"task": "sweep", "schedule": 30.0, "options": {"queue": "work", "expires": 25}}}
