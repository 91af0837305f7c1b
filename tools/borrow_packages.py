"""Makes the packages of another virtual environment importable here, after its own. Run by `make test-pydantic`.

The other environment's `.pth` files are processed, too, so that the packages of this project are found in place.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    (other,) = sys.argv[1:]
    borrowed = sysconfig.get_path("purelib", vars={"base": other, "platbase": other})
    own = Path(sysconfig.get_path("purelib"))
    (own / "borrowed.pth").write_text(f"import site; site.addsitedir({borrowed!r})\n", "utf-8")
