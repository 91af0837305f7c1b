"""A list that grows, of which an immutable copy costs little."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_SIZE = 256


class Frozen(Sequence[T_co]):
    """An immutable list. It shares most of its memory with other copies of the same `Growing`."""

    __slots__ = ("_blocks", "_length")

    def __init__(self, blocks: tuple[list[T_co], ...] = (), length: int = 0) -> None:
        self._blocks = blocks
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        if isinstance(index, slice):
            return tuple(self)[index]
        at = index + self._length if index < 0 else index
        if not 0 <= at < self._length:
            raise IndexError(index)
        return self._blocks[at // _SIZE][at % _SIZE]

    def __iter__(self) -> Iterator[T_co]:
        # The last block may have grown since.
        return islice(chain.from_iterable(self._blocks), self._length)

    def __repr__(self) -> str:
        return repr(list(self))


class Growing(Generic[T]):
    """A list to which items are added, and whose items are replaced.

    It consists of blocks, to which copies refer. Before an item is replaced, its block is copied if a copy may refer to
    it. Adding to a block is safe, because a copy knows its own length.
    """

    def __init__(self) -> None:
        self._blocks: list[list[T]] = []
        self._length = 0
        self._own: set[int] = set()  # the blocks that no copy refers to
        self._frozen: Frozen[T] | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> T:
        return self._blocks[index // _SIZE][index % _SIZE]

    def append(self, item: T) -> None:
        """Add an item."""
        if self._length % _SIZE == 0:
            self._own.add(len(self._blocks))
            self._blocks.append([])
        self._blocks[-1].append(item)
        self._length += 1
        self._frozen = None

    def replace(self, index: int, item: T) -> None:
        """Replace the item at an index."""
        number = index // _SIZE
        if number not in self._own:
            self._blocks[number] = self._blocks[number].copy()
            self._own.add(number)
        self._blocks[number][index % _SIZE] = item
        self._frozen = None

    def freeze(self) -> Frozen[T]:
        """Return an immutable copy. It takes time proportional to the length divided by 256."""
        if self._frozen is None:
            self._frozen = Frozen(tuple(self._blocks), self._length)
            self._own.clear()
        return self._frozen
