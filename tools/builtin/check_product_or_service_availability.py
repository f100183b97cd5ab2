"""check_product_or_service_availability: checks stock."""

from __future__ import annotations

from pydantic import Field

from projects.models import Project
from projects.records.attributes import resolve_attributes
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define, switched_on_by
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.handler_adapter import Arguments, refused, transactional_handler
from tools.services.business_data.products import KEY, find_products, others_like, read_products

WAIT_SECONDS = 30
NO_LIST = "What is available isn't known, because the list of products is empty. A colleague has to say."


class ProductArguments(Arguments):
    """The product or service to check."""

    product: str | None = Field(
        None, description="The product or service that is asked about, by its name; null when none was named."
    )


def check_product(project: Project, arguments: ProductArguments, context: ToolContext) -> Outcome:
    """Look the product up in the project's list. If it is unavailable, name alternatives."""
    if arguments.product is None:
        return refused("Nothing was checked, because the product or service isn't known. Ask which one it is.")
    held = resolve_attributes(project).get(KEY)
    products = read_products(held.value) if held else []
    if not products:
        return refused(NO_LIST)
    found = find_products(arguments.product, products)
    sentences = [f"{product.words}." for product in found] or [f"“{arguments.product[:80]}” is not in the list."]
    others = [] if any(product.available for product in found) else others_like(arguments.product, products)
    if others:
        sentences.append(f"Available instead: {', '.join(product.name for product in others)}.")
    result = {"product": arguments.product[:200], "found": [product.model_dump() for product in found]}
    return Outcome.done(" ".join(sentences), said=" ".join(sentences), result=result, adapter="project")


TOOL = BuiltinTool(
    name="check_product_or_service_availability",
    kind="product_availability",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=switched_on_by("project_attributes_setting_products_and_services_background_check_availability_enabled"),
    definition=define(
        "Checks whether a product or service is in stock or on offer.",
        conditions={
            "agentPromised": "The agent commits, in this answer, to check whether a product or service is available or in stock now.",
            "notRelatedToExistingBooking": "The answer is not about viewing, changing or cancelling a booking that exists already.",
        },
        tag="availability",
    ),
    handler=Handler(
        execute=transactional_handler(ProductArguments, check_product),
        arguments=ProductArguments,
        wait_seconds=WAIT_SECONDS,
        tells=True,
    ),
)
