"""Stores to test with: a file, and a server where one is installed."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid

import pytest
import sqlalchemy as sql

import postgres_server

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@pytest.fixture(scope="session")
def server():
    if not postgres_server.available():
        pytest.skip(postgres_server.WHY_NOT)
    with postgres_server.postgres_server(MEMORY or "/tmp") as url:
        yield url


@pytest.fixture
def folder():
    """A folder in memory where there is one: a kill leaves what was written there too."""
    made = tempfile.mkdtemp(dir=MEMORY)
    yield made
    shutil.rmtree(made)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, folder):
    """A fresh store of each kind."""
    if request.param == "sqlite":
        return f"{folder}/store.db"
    url = request.getfixturevalue("server")
    name = f"test_{uuid.uuid4().hex}"
    engine = sql.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return url.replace("/postgres?", f"/{name}?")
