"""Personal data in all tables of a tenant, from the declarations of every app."""

from __future__ import annotations

import conversations.personal_data
import jobs.personal_data
import notices.personal_data
import privacy.personal_data
import projects.personal_data
import todos.personal_data
import tools.personal_data
from tenancy.personal_data import Fate, TableContents

TABLES: tuple[TableContents, ...] = (
    *conversations.personal_data.TABLES,
    *tools.personal_data.TABLES,
    *todos.personal_data.TABLES,
    *jobs.personal_data.TABLES,
    *notices.personal_data.TABLES,
    *privacy.personal_data.TABLES,
    *projects.personal_data.TABLES,
)
BY_MODEL = {contents.model: contents for contents in TABLES}
# Tables with rows that belong to a customer.
OF_CUSTOMERS = tuple(contents for contents in TABLES if contents.links)
SEARCHED = tuple(contents for contents in TABLES if contents.fate is Fate.SEARCHED)
