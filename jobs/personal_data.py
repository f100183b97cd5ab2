"""Personal data in the tables of this app (`tenancy.personal_data`)."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from jobs.models import Job, ModelCall, ModelUsage
from tenancy.personal_data import Fate, Kept, Subject, TableContents

TABLES = (
    TableContents(
        Job,
        gettext_noop("Work to do and work done"),
        fate=Fate.DELETED,
        kept=Kept.JOBS,
        customer=("key", "error"),
        other=("lane", "state", "trace"),
        links={"subject_id": Subject.CONVERSATION},
    ),
    TableContents(
        ModelCall,
        gettext_noop("Prompts and answers of the model, with tokens and cost"),
        fate=Fate.EMPTIED,
        kept=Kept.PROMPTS,
        customer=("messages", "output", "tool_calls"),
        other=("skill", "template_hash", "model", "host", "finish", "error"),
        links={"id": Subject.CALL},
        emptied={"messages": [], "output": "", "tool_calls": [], "subject_id": None, "turn_id": None, "job_id": None},
    ),
    TableContents(ModelUsage, gettext_noop("Sums of model calls by day, model and purpose"), other=("model", "skill")),
)
