"""URLs of the todos API."""

from __future__ import annotations

from django.urls import path

from todos.api import rules, todos, types, verbs

urlpatterns = [
    path("todo-types", types.TodoTypes.as_view()),
    path("todo-types/<uuid:type_id>", types.TodoTypeDetail.as_view()),
    path("todos", todos.Todos.as_view()),
    path("todos/approve", verbs.ApproveTodos.as_view()),
    path("todos/reject", verbs.RejectTodos.as_view()),
    path("todos/<uuid:todo_id>", todos.TodoDetail.as_view()),
    path("todos/<uuid:todo_id>/approve", verbs.ApproveTodo.as_view()),
    path("todos/<uuid:todo_id>/reject", verbs.RejectTodo.as_view()),
    path("todos/<uuid:todo_id>/cancel", verbs.CancelTodo.as_view()),
    path("todos/<uuid:todo_id>/take", verbs.TakeTodo.as_view()),
    path("todos/<uuid:todo_id>/complete", verbs.CompleteTodo.as_view()),
    path("todos/<uuid:todo_id>/fail", verbs.FailTodo.as_view()),
    path("todos/<uuid:todo_id>/review-again", verbs.ReviewTodoAgain.as_view()),
    path("standing-rules", rules.StandingRules.as_view()),
    path("standing-rules/preview", rules.StandingRulePreview.as_view()),
    path("standing-rules/<uuid:rule_id>", rules.StandingRuleDetail.as_view()),
]
