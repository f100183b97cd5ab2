"""Labelled answers of a project, as regression cases for detection."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class KeptCase(TenantModel):
    """An agent's answer with the conversation before it and each tool's expected outcome (`tools.evaluation.cases`).

    `conversation` is a list of `{"role", "content"}`; `expected` maps a tool to "fired" or the rule that holds it back.
    A deleted case stays for a while, so that it can be restored.
    """

    project = TenantForeignKey("projects.Project", related_name="kept_cases")
    name = models.CharField(max_length=120)
    answer = models.TextField()
    conversation = models.JSONField(default=list, blank=True)
    channel = models.CharField(max_length=20)
    expected = models.JSONField(default=dict, blank=True)
    turn_id = models.UUIDField(null=True, editable=False, help_text="the turn whose reply the answer is")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    deleted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        indexes = [models.Index(fields=["organization", "project", "-created_at"], name="kept_case_project")]
        ordering = ["created_at", "id"]

    def __str__(self) -> str:
        return self.name
