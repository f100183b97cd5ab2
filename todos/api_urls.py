"""The addresses of the todos' API."""

from __future__ import annotations

from django.urls import path

from todos import api

urlpatterns = [
    path("todo-types", api.TodoTypes.as_view()),
    path("todo-types/<uuid:type_id>", api.TodoTypeDetail.as_view()),
    path("todos", api.Todos.as_view()),
    path("todos/approve", api.ApproveTodos.as_view()),
    path("todos/<uuid:todo_id>", api.TodoDetail.as_view()),
    path("todos/<uuid:todo_id>/approve", api.ApproveTodo.as_view()),
    path("todos/<uuid:todo_id>/reject", api.RejectTodo.as_view()),
    path("todos/<uuid:todo_id>/cancel", api.CancelTodo.as_view()),
    path("todos/<uuid:todo_id>/take", api.TakeTodo.as_view()),
    path("todos/<uuid:todo_id>/complete", api.CompleteTodo.as_view()),
    path("todos/<uuid:todo_id>/fail", api.FailTodo.as_view()),
    path("todos/<uuid:todo_id>/review-again", api.ReviewTodoAgain.as_view()),
    path("standing-rules", api.StandingRules.as_view()),
    path("standing-rules/preview", api.StandingRulePreview.as_view()),
    path("standing-rules/<uuid:rule_id>", api.StandingRuleDetail.as_view()),
]
