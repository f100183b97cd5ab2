"""Celery's settings: early acknowledgement, no results, no ETA, no retries.

The sweep finds work whose message was lost.
"""

from __future__ import annotations

from kombu import Queue

from config.environment import redis_socket, redis_url

broker_url = redis_url()
broker_connection_retry_on_startup = True
# A Redis that refuses writes, because its disk is full or it became a replica, would end the worker.
broker_channel_error_retry = True
broker_pool_limit = 16
broker_transport_options = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "health_check_interval": 10,
    **redis_socket(),
    "global_keyprefix": "makegood:",
}
imports = ("config.preload",)
task_publish_retry = False
task_ignore_result = True
# Acknowledging hints in Redis cost more than the hints themselves.
task_queues = [Queue(name, routing_key=name, no_ack=True) for name in ("replies", "work")]
task_default_queue = "work"
worker_prefetch_multiplier = 1
worker_cancel_long_running_tasks_on_connection_loss = True
worker_hijack_root_logger = False
timezone = "UTC"
beat_schedule = {
    name: {"task": name, "schedule": 30.0, "options": {"queue": "work", "expires": 25}}
    for name in ("sweep", "execute_todos_job")
}
