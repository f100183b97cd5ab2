"""Preparation of the database, and the content of demo.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from config.runner.preparation import DemoFile, DemoLogin, Preparation

LOGIN = DemoLogin(api_key="key", email="demo@example.org", password="word", project="demo")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    migrations = tmp_path / "root" / "projects" / "migrations"
    migrations.mkdir(parents=True)
    (migrations / "0001_initial.py").write_text("operations = []")
    return tmp_path / "root"


def prepare(data_dir: Path, *, root: Path, database_url: str = "postgresql://here") -> Preparation:
    preparation = Preparation(data_dir, root=root, database_url=database_url)
    preparation.mark_done(LOGIN)
    return preparation


def test_a_second_start_prepares_nothing(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    assert Preparation(tmp_path, root=root, database_url="postgresql://here").login() == LOGIN


def test_a_new_migration_is_prepared(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    (root / "projects" / "migrations" / "0002_more.py").write_text("operations = []")
    assert Preparation(tmp_path, root=root, database_url="postgresql://here").login() is None


def test_changed_demo_data_is_prepared(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    (root / "projects" / "demo").mkdir()
    (root / "projects" / "demo" / "shop.json").write_text("{}")
    assert Preparation(tmp_path, root=root, database_url="postgresql://here").login() is None


def test_changes_of_other_code_prepare_nothing(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    (root / "projects" / "views.py").write_text("# a page")
    assert Preparation(tmp_path, root=root, database_url="postgresql://here").login() == LOGIN


def test_another_database_is_prepared(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    assert Preparation(tmp_path, root=root, database_url="postgresql://there").login() is None


@pytest.mark.parametrize("name", ["prepared", "demo.json"])
def test_files_with_the_login_are_private(tmp_path: Path, root: Path, name: str) -> None:
    prepare(tmp_path, root=root)
    DemoFile(tmp_path).write(LOGIN, base_url="http://127.0.0.1:8000", model_url=None)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_the_demo_file_names_the_offline_model_only_if_it_runs(tmp_path: Path) -> None:
    demo = tmp_path / "demo.json"
    DemoFile(tmp_path).write(LOGIN, base_url="http://127.0.0.1:8000", model_url=None)
    assert set(json.loads(demo.read_text())) == {"base_url", "api_key", "email", "password", "project"}
    DemoFile(tmp_path).write(LOGIN, base_url="http://127.0.0.1:8000", model_url="http://127.0.0.1:9")
    assert json.loads(demo.read_text())["model_url"] == "http://127.0.0.1:9"
