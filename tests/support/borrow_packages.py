"""Run by `make test-pydantic`: let this environment find behind its own packages those of another one.

What the other one has installed in place (the packages of this project) is found, too, as its `.pth` files say.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    (other,) = sys.argv[1:]
    there = sysconfig.get_path("purelib", vars={"base": other, "platbase": other})
    here = Path(sysconfig.get_path("purelib"))
    (here / "behind.pth").write_text(f"import site; site.addsitedir({there!r})\n", "utf-8")
