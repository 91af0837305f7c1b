"""On Windows, a job object ends a process with its descendants. What no other system has is recorded by a fake."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from ctypes import sizeof
from typing import Any

import pytest

from acp_runtime.windows_jobs import Accounting, BasicLimits, ExtendedLimits, open_job

JOB, PROCESS, PROCESS_ID = 1 << 40, 1 << 41, 4711  # handles have 64 bits
PUT_INTO_A_JOB = [
    ("CreateJobObjectW", None, None),
    # JobObjectExtendedLimitInformation, and JOB_OBJECT_LIMIT_BREAKAWAY_OK with JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
    ("SetInformationJobObject", JOB, 9, 0x2800, 144),
    ("OpenProcess", 0x101, False, PROCESS_ID),  # PROCESS_TERMINATE and PROCESS_SET_QUOTA
    ("AssignProcessToJobObject", JOB, PROCESS),
    ("CloseHandle", PROCESS),
]


class Kernel32:
    """Records calls in place of Windows, with the flags in place of a structure.

    Args:
        failing: the function that fails, if one does.
        members: how many processes of the job run.
    """

    def __init__(self, failing: str = "", members: int = 0) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._failing = failing
        self._members = members

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            structures = [getattr(arg, "_obj", None) for arg in args]
            for structure in structures:
                if isinstance(structure, Accounting):
                    structure.active = self._members
            flags = [
                structure.basic.flags if isinstance(structure, ExtendedLimits) else structure
                for structure in structures
            ]
            self.calls.append((name, *(arg if flag is None else flag for arg, flag in zip(args, flags, strict=True))))
            if name == self._failing:
                raise PermissionError(13, "Access is denied")
            return {"CreateJobObjectW": JOB, "OpenProcess": PROCESS}.get(name, 1)

        return call


def test_the_structures_have_the_sizes_of_64_bit_windows() -> None:
    assert sizeof(BasicLimits) == 64
    assert sizeof(ExtendedLimits) == 144
    assert sizeof(Accounting) == 48
    assert (BasicLimits.flags.offset, Accounting.active.offset) == (16, 40)


def test_a_process_is_put_into_a_job_that_is_killed_when_it_is_closed() -> None:
    kernel32 = Kernel32()
    job = open_job(PROCESS_ID, lambda: kernel32)
    assert kernel32.calls == PUT_INTO_A_JOB
    del job
    gc.collect()
    assert kernel32.calls == [*PUT_INTO_A_JOB, ("CloseHandle", JOB)]


@pytest.mark.parametrize("members", [0, 2])
def test_a_job_counts_its_processes_and_ends_them(members: int) -> None:
    kernel32 = Kernel32(members=members)
    job = open_job(PROCESS_ID, lambda: kernel32)
    assert job is not None
    assert job.has_members() is (members > 0)
    job.terminate()
    counting, ending = kernel32.calls[len(PUT_INTO_A_JOB) :]
    assert (*counting[:3], *counting[4:]) == ("QueryInformationJobObject", JOB, 1, 48, None)
    assert ending == ("TerminateJobObject", JOB, 1)


@pytest.mark.parametrize("failing", [name for name, *_ in PUT_INTO_A_JOB[:-1]])
def test_without_a_job_the_process_runs_and_the_reason_is_logged_once(
    failing: str, caplog: pytest.LogCaptureFixture
) -> None:
    kernel32 = Kernel32(failing)
    with caplog.at_level(logging.DEBUG, "acp_runtime"):
        assert open_job(PROCESS_ID, lambda: kernel32) is None
    (record,) = caplog.records
    assert record.levelno == logging.DEBUG
    assert record.getMessage() == f"Process {PROCESS_ID} can't be put into a job: [Errno 13] Access is denied"
    gc.collect()
    opened = [{"CreateJobObjectW": JOB, "OpenProcess": PROCESS}.get(name) for name, *_ in kernel32.calls]
    closed = [args[0] for name, *args in kernel32.calls if name == "CloseHandle"]
    if failing in ("CreateJobObjectW", "OpenProcess"):
        opened.remove({"CreateJobObjectW": JOB, "OpenProcess": PROCESS}[failing])
    assert sorted(closed) == sorted(filter(None, opened))
