"""The platform's definitions of its tools, the same for every tenant."""

from __future__ import annotations

from django.db import models


class PlatformDefinition(models.Model):
    """The description of one tool for models. `parameters` is a JSON Schema; empty means the code's.

    `seed` is the digest of what the seed command last wrote; it differs from the row's digest after an edit.
    """

    name = models.CharField(max_length=64, primary_key=True)
    category = models.CharField(max_length=40, blank=True)
    description = models.TextField(help_text="{{business}}, {{agent}} and {{channel}} are filled in.")
    section = models.TextField(blank=True, help_text="how a model is to use it, under ## Available Tools")
    parameters = models.JSONField(null=True, blank=True)
    seed = models.CharField(max_length=64, blank=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
