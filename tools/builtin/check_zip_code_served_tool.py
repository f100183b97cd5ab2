"""check_zip_code_served_tool: checks whether a zip code is served."""

from __future__ import annotations

from pydantic import Field

from projects.models import Project
from projects.records.attributes import resolve_attributes
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.handler_adapter import Arguments, refused, transactional_handler
from tools.services.business_data.zip_codes import KEY, is_served, is_zip_code, served_words

WAIT_SECONDS = 30
NO_CODE = "Nothing was checked, because “{words}” is no zip code. Ask for the zip code in digits."
NO_LIST = "Which zip codes are served isn't known, because the list is empty. A colleague has to say."


class ZipCodeArguments(Arguments):
    """The zip code to check."""

    zip_code: str | None = Field(
        None, description="The zip code or postcode that is asked about, as it was said; null when none was said."
    )


def check_zip_code(project: Project, arguments: ZipCodeArguments, context: ToolContext) -> Outcome:
    """Look the zip code up in the project's list."""
    if arguments.zip_code is None:
        return refused("Nothing was checked, because the zip code isn't known. Ask for it.")
    found = resolve_attributes(project).get(KEY)
    served = found.value if found and isinstance(found.value, list) else []
    if not served:
        return refused(NO_LIST)
    if not is_zip_code(arguments.zip_code):
        return refused(NO_CODE.format(words=arguments.zip_code[:40]))
    zip_code, answer = arguments.zip_code[:20], is_served(arguments.zip_code, served)
    told = f"The zip code {zip_code} is served." if answer else f"The zip code {zip_code} is not served."
    rest = "" if answer else f" Served are {served_words(served)}."
    return Outcome.done(told + rest, result={"zip_code": zip_code, "served": answer}, adapter="project")


TOOL = BuiltinTool(
    name="check_zip_code_served_tool",
    kind="zip_code",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=switched_on_by("project_attributes_setting_products_and_services_background_check_location_enabled"),
    definition=define(
        "Checks whether a zip code or area is served.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to check whether a zip code, address or area is served now.",
        },
    ),
    handler=Handler(
        execute=transactional_handler(ZipCodeArguments, check_zip_code),
        arguments=ZipCodeArguments,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
