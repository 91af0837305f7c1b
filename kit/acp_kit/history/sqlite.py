"""How an SQLite file is opened safely, and how its transactions start.

Everything else in `SqlHistory` works with any database that SQLAlchemy supports.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event

from acp_kit.history.errors import HistoryDamaged, HistoryError

# How long to wait while another process writes, in seconds.
_LOCK_TIMEOUT: Final = 60


def engine_for(path: Path) -> Engine:
    """Return an engine for a file.

    Its connections start a transaction before the first statement that writes, and lock the file immediately, because
    locking it later may fail. They are returned to the pool without a transaction, so nothing has to be rolled back.
    """
    url = URL.create("sqlite", database=str(path))
    options = {"timeout": _LOCK_TIMEOUT, "isolation_level": "IMMEDIATE"}
    engine = create_engine(url, connect_args=options, pool_reset_on_return=None)
    event.listen(engine, "connect", _set_up)
    return engine


def lock(connection: Connection) -> None:
    """Start a transaction that writes, before statements that SQLite's driver doesn't start one for."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def prepare_file(path: Path) -> None:
    """Check an existing file without writing to it, or create one for its owner only. Then set it to WAL mode.

    WAL mode lets others read while one writes.

    Raises:
        HistoryDamaged: if it is damaged, or isn't a database. It is unchanged.
        HistoryError: if it can't be read, created or written.
    """
    try:
        if path.is_file() and path.stat().st_size:
            _check(f"{path.absolute().as_uri()}?mode=ro", path)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(path, timeout=_LOCK_TIMEOUT)) as file:
            file.execute("PRAGMA journal_mode=WAL").fetchone()
    except sqlite3.Error as error:
        raise explain(path, error) from error
    except OSError as error:
        raise HistoryError(f"The history {path} can't be opened: {error.strerror}") from error


def _check(uri: str, path: Path) -> None:
    with closing(sqlite3.connect(uri, uri=True, timeout=_LOCK_TIMEOUT)) as file:
        (result,) = file.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise HistoryDamaged(f"The history {path} is damaged: {' '.join(result.split())}")


def explain(path: Path, error: BaseException) -> HistoryError:
    """Return the exception for an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "Could not decode" in str(error):
        return HistoryDamaged(f"The history {path} is damaged: {error}")
    return HistoryError(f"The history {path} can't be used: {error}")


def _set_up(connection: Any, _record: Any) -> None:
    """Prepare a connection. A commit hands its data to the system, so it survives the end of the process."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()
