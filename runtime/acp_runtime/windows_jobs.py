"""Job objects of Windows: a job holds a process and all its descendants, except those that ask to break away.

Windows ends all processes of a job when the job is closed, also if this process was killed. Imported on Windows only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from ctypes import Structure, byref, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
from logging import DEBUG, getLogger
from typing import Any
from weakref import finalize

from acp_runtime.logs import log

# The names are Windows's: PROCESS_TERMINATE, JobObjectExtendedLimitInformation, JOB_OBJECT_LIMIT_BREAKAWAY_OK, ...
TERMINATE, SET_QUOTA = 0x1, 0x100
BASIC_ACCOUNTING, EXTENDED_LIMITS = 1, 9
BREAKAWAY_OK, KILL_ON_JOB_CLOSE = 0x800, 0x2000

_logger = getLogger(__name__)


class Handle(c_void_p):
    """A handle. As a plain `c_void_p`, a result would become a number, which is passed on as one of 32 bits."""


class BasicLimits(Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION. Its unused members are joined into arrays of the same size."""

    _fields_ = (("times", c_int64 * 2), ("flags", c_uint32), ("sizes", c_size_t * 4), ("classes", c_uint32 * 2))


class ExtendedLimits(Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (("basic", BasicLimits), ("io", c_uint64 * 6), ("memory", c_size_t * 4))


class Accounting(Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (("times", c_int64 * 4), ("counts", c_uint32 * 2), ("active", c_uint32), ("ended", c_uint32))


class Job:
    """A job with a process and those that it starts. They end when nothing refers to this object any more.

    Args:
        process_id: the process. It has just been started: what it has started before it is in the job isn't in it.
        kernel32: the functions of Windows.

    Raises:
        OSError: if the job can't be made, or the process can't be put into it.
    """

    def __init__(self, process_id: int, kernel32: Any) -> None:
        self._kernel32 = kernel32
        self._job = job = kernel32.CreateJobObjectW(None, None)
        finalize(self, kernel32.CloseHandle, job)
        limits = ExtendedLimits()
        limits.basic.flags = BREAKAWAY_OK | KILL_ON_JOB_CLOSE
        kernel32.SetInformationJobObject(job, EXTENDED_LIMITS, byref(limits), sizeof(limits))
        # The system gives the id to no other process while `Popen` has its handle.
        process = kernel32.OpenProcess(TERMINATE | SET_QUOTA, False, process_id)
        try:
            kernel32.AssignProcessToJobObject(job, process)
        finally:
            kernel32.CloseHandle(process)

    def has_members(self) -> bool:
        """Return whether a process of the job runs."""
        accounting = Accounting()
        self._kernel32.QueryInformationJobObject(
            self._job, BASIC_ACCOUNTING, byref(accounting), sizeof(accounting), None
        )
        return bool(accounting.active)

    def terminate(self) -> None:
        """End all processes of the job."""
        self._kernel32.TerminateJobObject(self._job, 1)


def load_kernel32() -> Any:
    """Return the functions of Windows. Those that make a job raise OSError if they fail."""
    if sys.platform == "win32":
        import ctypes

        def check(result: Any, *_: object) -> Any:
            if not result:
                raise ctypes.WinError(ctypes.get_last_error())
            return result

        kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel32.CreateJobObjectW.restype = kernel32.OpenProcess.restype = Handle
        for name in ("CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject"):
            getattr(kernel32, name).errcheck = check
        return kernel32
    raise OSError("Only Windows has jobs.")


def open_job(process_id: int, load: Callable[[], Any] = load_kernel32) -> Job | None:
    """Put a process into a new job. Return None if that isn't possible: then only the process itself can be ended."""
    try:
        return Job(process_id, load())
    except OSError as error:
        log(_logger, DEBUG, "Process %s can't be put into a job: %s", process_id, error)
        return None
