"""When a start prepares the database again, and what demo.json says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from config.runner.preparation import DemoLogin, Preparation

LOGIN = DemoLogin(api_key="key", email="demo@example.org", password="word", project="demo")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    migrations = tmp_path / "root" / "projects" / "migrations"
    migrations.mkdir(parents=True)
    (migrations / "0001_initial.py").write_text("operations = []")
    return tmp_path / "root"


def prepare(data_dir: Path, *, root: Path, database_url: str = "postgresql://here") -> Preparation:
    preparation = Preparation(data_dir, root=root, database_url=database_url)
    preparation.write_demo(LOGIN, base_url="http://127.0.0.1:8000", model_url=None)
    preparation.mark_done()
    return preparation


def test_the_second_start_has_nothing_to_prepare(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    again = Preparation(tmp_path, root=root, database_url="postgresql://here")
    assert again.is_done()
    assert again.login() == LOGIN


def test_a_new_migration_is_prepared(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    (root / "projects" / "migrations" / "0002_more.py").write_text("operations = []")
    assert not Preparation(tmp_path, root=root, database_url="postgresql://here").is_done()


def test_another_database_is_prepared(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    assert not Preparation(tmp_path, root=root, database_url="postgresql://there").is_done()


def test_a_lost_demo_file_is_made_again(tmp_path: Path, root: Path) -> None:
    prepare(tmp_path, root=root)
    (tmp_path / "demo.json").unlink()
    assert not Preparation(tmp_path, root=root, database_url="postgresql://here").is_done()


def test_the_demo_file_is_for_its_owner_and_names_the_offline_model_only_if_it_runs(tmp_path: Path, root: Path) -> None:
    preparation = prepare(tmp_path, root=root)
    demo = tmp_path / "demo.json"
    assert demo.stat().st_mode & 0o777 == 0o600
    assert set(json.loads(demo.read_text())) == {"base_url", "api_key", "email", "password", "project"}
    preparation.write_demo(LOGIN, base_url="http://127.0.0.1:8000", model_url="http://127.0.0.1:9")
    assert json.loads(demo.read_text())["model_url"] == "http://127.0.0.1:9"
