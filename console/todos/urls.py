"""URLs of the todo pages."""

from __future__ import annotations

from django.urls import path

from console.csv_export import csv_view
from console.todos.editing import edit, new_todo
from console.todos.export import TODOS as TODO_LIST
from console.todos.rules import new_rule
from console.todos.types import TAB, types
from console.todos.views import news, todo, todos

TODOS = "p/<slug:project_slug>/todos"

urlpatterns = [
    path(TODOS, todos, name="todos"),
    path(f"{TODOS}.csv", csv_view(TODO_LIST), name="todos_csv"),
    path(f"{TODOS}/new", new_todo, name="new_todo"),
    path(f"{TODOS}/news", news, name="todo_news"),
    path(f"{TODOS}/<uuid:todo_id>", todo, name="todo"),
    path(f"{TODOS}/<uuid:todo_id>/edit", edit, name="edit_todo"),
    path(f"{TODOS}/<uuid:todo_id>/allow", new_rule, name="allow_todo"),
    path(f"p/<slug:project_slug>/agent/{TAB}", types, {"section": TAB}, name="agent"),
]
