"""Exchanges two paths in one atomic step, so that neither is ever missing.

Linux and macOS have a system call for it, which Python doesn't offer. Where the system or the file system doesn't
support it, the caller has to rename in two steps.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # Linux, renameat2(2)
_RENAME_SWAP = 2  # macOS, renamex_np(2)
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """Exchange two existing paths.

    Returns:
        Whether the system supports it. If not, nothing was changed.

    Raises:
        OSError: the file system refuses the exchange.
    """
    if os.name != "posix":
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _RENAME_EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(first, second, _RENAME_SWAP)
    else:
        return False
    number = ctypes.get_errno()
    if failed and number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number), str(one))
    return not failed
