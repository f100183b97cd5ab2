from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Tenant
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.custom import service
from tools.engine.custom.service import Saved
from tools.models import CustomTool


@dataclass(frozen=True)
class Tools:
    """The custom tools of a tenant; each call runs in its own transaction."""

    tenant: Tenant

    def save(self, name: str, document: Any, **details: Any) -> Saved:
        with self.tenant.tx():
            return service.save(self.tenant.project, name=name, document=document, **details)

    def do(self, verb: Any, *names: Any, **details: Any) -> Any:
        with self.tenant.tx():
            return verb(self.tenant.project, *names, **details)

    def row(self, name: str) -> CustomTool:
        with self.tenant.tx():
            return CustomTool.objects.get(name=name)

    def compiled(self, channel: str = "chat") -> Mapping[str, CompiledTool]:
        with self.tenant.tx():
            return {tool.name: tool for tool in compile_tools(self.tenant.project, channel=channel)}


@pytest.fixture
def tools(tenant: Tenant) -> Tools:
    return Tools(tenant)
