"""URLs of the knowledge base."""

from __future__ import annotations

from django.urls import path

from console.knowledge import editor, listing, public

HERE = "p/<slug:project_slug>/knowledge"

urlpatterns = [
    path(HERE, listing.knowledge, name="knowledge"),
    path(f"{HERE}/new", editor.new_article, name="new_article"),
    path(f"{HERE}/a/<slug:article_slug>", editor.article, name="article"),
    path("k/<slug:project_slug>/<slug:article_slug>", public.read_article, name="public_article"),
]
