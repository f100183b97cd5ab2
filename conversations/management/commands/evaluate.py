"""Measures how well a model detects the agent's commitments, and follows each rule of the prompts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from conversations.evaluation.rules.reader import written_rule_readings
from llm.client import Client
from llm.types import Endpoint, ModelSpec
from outbound.guard import Guard
from projects.agents.model_choice import default_model, model_for, operator_endpoint
from projects.models import Project
from projects.models.agent_config import Skill
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_project_by_slug
from tools.engine.catalogue import CompiledTool, at_moment, compile_tools
from tools.engine.definition import Trigger
from tools.evaluation import report
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import BadCase, Case, Part, load_cases
from tools.evaluation.kept import kept_cases
from tools.evaluation.reader import ToolsFor, in_parallel, read_cases
from tools.evaluation.rules.reader import rule_readings
from tools.evaluation.rules.score import RuleReading, rule_figures, rule_table
from tools.evaluation.score import CaseReading, tally_by
from tools.evaluation.unseen_cases import UnseenSet, load_unseen

TOLD_EVERY = 50
# The skills that are asked.
ASKED: tuple[Skill, ...] = ("detect", "arguments", "thoughts", "reply")
RULES_LANGUAGE = "en"


class Command(BaseCommand):
    help = (
        "Ask a model, through the tool caller's own detection, about the labelled answers, and print precision and recall "
        "by tool, rule and language, and the score of each rule of the prompts. Exits with 1 when precision or recall is "
        "below the threshold in any language."
    )

    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", help="the model's name; the operator's fast model without it")
        parser.add_argument("--base-url", help="a Chat Completions endpoint; the operator's without it")
        parser.add_argument(
            "--key-from",
            default="",
            metavar="VARIABLE",
            help="the environment variable with the key for --base-url; the operator's own key isn't sent there",
        )
        parser.add_argument("--language", action="append", default=[], help="may be repeated; all without it")
        parser.add_argument(
            "--unseen",
            choices=[str(name) for name in UnseenSet],
            help="read a set of answers written without knowledge of the offline model's grammar instead",
        )
        parser.add_argument("--threshold", type=float, default=0.97, help="for precision and recall; default 0.97")
        parser.add_argument(
            "--project", metavar="SLUG", help="add the project's kept cases, read with its tools and model"
        )
        parser.add_argument("--out", type=Path, metavar="DIR", help="write evaluation.json and evaluation.svg there")
        parser.add_argument("--misses", action="store_true", help="print what was read wrongly, held-out cases apart")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            cases = _cases(options)
        except BadCase as error:
            raise CommandError(str(error), returncode=2) from error
        kept = _Kept.of(options["project"]) if options["project"] else _Kept.none()
        evaluated = asyncio.run(self._evaluate([*cases, *kept.cases], kept=kept, options=options))
        reads = evaluated.reads
        self._tell(evaluated, model=_model(options, "detect", kept=kept), options=options)
        if failed := _below(reads, threshold=options["threshold"]):
            raise CommandError(f"Below {options['threshold']}: {', '.join(failed)}.", returncode=1)

    async def _evaluate(self, cases: Sequence[Case], *, kept: _Kept, options: dict[str, Any]) -> _Evaluated:
        client = Client(prices=settings.MODEL_PRICES, outbound=Guard(allow=settings.OUTBOUND_ALLOW))
        model_of = partial(_model, options, kept=kept)
        try:
            reads = await self._read(cases, client=client, model=model_of("detect"), tools_for=kept.tools_for)
            rules = [*rule_readings(client, model_of), *written_rule_readings(client, model_of)]
            return _Evaluated(reads, await in_parallel(rules if _includes_rules(options) else []))
        finally:
            await client.aclose()

    async def _read(
        self, cases: Sequence[Case], *, client: Client, model: ModelSpec, tools_for: ToolsFor
    ) -> list[CaseReading]:
        done: list[CaseReading] = []

        def tell(read: CaseReading) -> None:
            done.append(read)
            if len(done) % TOLD_EVERY == 0 or len(done) == len(cases):
                self.stderr.write(f"{len(done)} of {len(cases)} read")

        return await read_cases(cases, client=client, model=model, tools_for=tools_for, on_read=tell)

    def _tell(self, evaluated: _Evaluated, *, model: ModelSpec, options: dict[str, Any]) -> None:
        reads, rules = evaluated.reads, evaluated.rules
        errors = [*(read.error for read in reads if read.error), *(rule.error for rule in rules if rule.error)]
        facts = {"model": model.model, "cases": len(reads), "errors": len(errors), "threshold": options["threshold"]}
        self.stdout.write(f"{model.model}, {len(reads)} cases, {len(errors)} calls without an answer\n\n")
        self.stdout.write(report.table(reads))
        if rules:
            self.stdout.write(f"\n{rule_table(rules)}")
        for line in [*errors[:3], *(report.misses(reads) if options["misses"] else ())]:
            self.stdout.write(line)
        if options["out"]:
            report.write(options["out"], reads=reads, facts={**facts, "prompt rule": rule_figures(rules)})


@dataclass(frozen=True)
class _Evaluated:
    """A model's readings of the labeled answers, and of the cases of the prompts' rules."""

    reads: Sequence[CaseReading]
    rules: Sequence[RuleReading]


def _cases(options: dict[str, Any]) -> list[Case]:
    return load_unseen(UnseenSet(options["unseen"])) if options["unseen"] else load_cases(options["language"])


class _Kept:
    """A project's kept cases with what they are read by: the project's own tools, and its models by skill."""

    def __init__(
        self, cases: Sequence[Case], tools: dict[str, list[CompiledTool]], models: dict[Skill, ModelSpec]
    ) -> None:
        self.cases = cases
        self.models = models
        self._tools = tools

    @classmethod
    def none(cls) -> _Kept:
        return cls([], {}, {})

    @classmethod
    def of(cls, slug: str) -> _Kept:
        place = find_project_by_slug(slug)
        if place is None:
            raise CommandError(f"There is no project {slug}.", returncode=2)
        with tenant_tx(place.organization_id):
            project = Project.objects.select_related("agent_version").get(pk=place.project_id)
            cases = kept_cases(project)
            channels = {case.channel for case in cases}
            tools = {
                channel: at_moment(compile_tools(project, channel=channel), Trigger.COMMITMENT) for channel in channels
            }
            version = project.agent_version
            models = {skill: model_for(project, version.config, skill) for skill in ASKED} if version else {}
            return cls(cases, tools, models)

    def tools_for(self, case: Case) -> Sequence[CompiledTool]:
        return self._tools[case.channel] if case.part is Part.KEPT else builtin_tools_for(case)


def _model(options: dict[str, Any], skill: Skill, *, kept: _Kept) -> ModelSpec:
    """The model that the options name, or the project's for the skill, or the operator's."""
    standing = kept.models.get(skill)
    endpoint = standing.endpoint if standing else operator_endpoint()
    if options["base_url"]:
        key = os.environ.get(options["key_from"], "") or "none"
        endpoint = Endpoint(base_url=options["base_url"].rstrip("/"), api_key=key, trusted=True)
    return ModelSpec(
        endpoint=endpoint, model=options["model"] or (standing.model if standing else default_model(skill))
    )


def _includes_rules(options: dict[str, Any]) -> bool:
    """The rules' cases are in English."""
    return not options["language"] or RULES_LANGUAGE in options["language"]


def _below(reads: Sequence[CaseReading], *, threshold: float) -> list[str]:
    """The languages whose precision or recall is too low, so that a strong language hides no weak one."""
    languages = tally_by(reads, lambda case: case.language)
    return [language for language, one in languages.items() if not one.holds(threshold)]
