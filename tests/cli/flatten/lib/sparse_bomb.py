"""sparse_bomb.py FILE FORMAT MAP: an image of some kilobytes with a file of 16 TiB in its layer, and one before and behind.

FORMAT: of sparse files, "old", "0.0", "0.1" or "1.0"; or a size without a map, "realsize", "size" or "schily".
MAP: what it says. "hole": 512 bytes of data behind a hole; "whole": all of the file is data; "pieces": 30 pieces of data
that fill the file; "more": 30 pieces with holes between them, more than the archive has, of a file of 1 GiB;
"fits": 30 pieces of 512 bytes, all of which the archive has, of a file of 1 MiB.
"""
import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
from quick_images import BLOCK, header, layer, padded, save, with_records  # noqa: E402

HUGE, PIECES = 16 << 40, 30


def pieces_of(kind):
    """Returns the size of the file, the map, and how much the archive stores."""
    if kind == "hole":
        return HUGE, [(HUGE - BLOCK, BLOCK)], BLOCK
    if kind == "whole":
        return HUGE, [(0, HUGE)], BLOCK
    if kind == "pieces":
        size = HUGE // PIECES
        return size * PIECES, [(i * size, size) for i in range(PIECES)], BLOCK
    size, step = (1 << 20, BLOCK) if kind == "fits" else (1 << 30, 16 << 20)
    return size, [(i * 2 * step, step) for i in range(PIECES)], PIECES * BLOCK


def old_number(value):
    return b"%011o\0" % value if value < 8**11 else (value | 0x80 << 88).to_bytes(12, "big")


def slots(pairs, room):
    return b"".join(old_number(at) + old_number(size) for at, size in pairs[:room]).ljust(24 * room, b"\0")


def old(size, pairs, data):
    """The header of GNU tar before POSIX, and blocks with more of its map."""
    more = pairs[4:]
    tail = slots(pairs, 4) + (b"\1" if more else b"\0") + old_number(size)
    head = bytearray(header(b"sparse", b"S", len(data)))
    head[257:265] = b"ustar  \0"
    head[386:386 + len(tail)] = tail
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    out = bytes(head)
    while more:
        out += (slots(more, 21) + (b"\1" if more[21:] else b"\0")).ljust(BLOCK, b"\0")
        more = more[21:]
    return out + padded(data)


def records_of(form, size, pairs):
    number = b"%d" % size
    if form == "0.0":
        return [(b"GNU.sparse.size", number), (b"GNU.sparse.numblocks", b"%d" % len(pairs))] + [
            record for at, length in pairs for record in ((b"GNU.sparse.offset", b"%d" % at), (b"GNU.sparse.numbytes", b"%d" % length))]
    if form == "0.1":
        return [(b"GNU.sparse.size", number), (b"GNU.sparse.numblocks", b"%d" % len(pairs)), (b"GNU.sparse.name", b"sparse"),
                (b"GNU.sparse.map", b",".join(b"%d,%d" % pair for pair in pairs))]
    if form == "1.0":
        return [(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.name", b"sparse"),
                (b"GNU.sparse.realsize", number)]
    return [({"realsize": b"GNU.sparse.realsize", "size": b"GNU.sparse.size", "schily": b"SCHILY.realsize"}[form], number)]


def sparse(form, kind):
    size, pairs, stored = pieces_of(kind)
    data = b"x" * stored
    if form == "old":
        return old(size, pairs, data)
    if form == "1.0":
        lines = [len(pairs)] + [number for pair in pairs for number in pair]
        data = padded(b"".join(b"%d\n" % line for line in lines)) + data
    return with_records(records_of(form, size, pairs), b"sparse", size=len(data)) + padded(data)


files = [header(b"before", size=3) + padded(b"abc"), sparse(sys.argv[2], sys.argv[3]),
         header(b"behind", size=4) + padded(b"data")]
save(sys.argv[1], [layer(files)])
