"""Tar archives written byte by byte.

Python's tarfile cleans names, merges records and knows no old sparse files, so
the entries of a case are written by hand and appear unchanged in the
tar. An Entry is one member; `fmt` chooses the form of values too large for the ustar
header: "pax" (records), "go" (the same, and a header without any bytes
that are not ASCII, as Go's archive/tar writes it), "gnu" (L and K members, base-256
numbers) or "ustar" (cut off, as a faulty writer would).
"""
from dataclasses import dataclass, field

BLOCK = 512
T0 = 1_500_000_000_123_456_789  # the mtime of an entry that names none (ns)

REG, LNK, SYM, CHR, BLK, DIR, FIFO = b"0", b"1", b"2", b"3", b"4", b"5", b"6"


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


@dataclass
class Entry:
    name: bytes
    type: bytes = REG
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    mtime: int = T0  # ns
    data: bytes = b""
    link: bytes = b""
    dev: tuple = (0, 0)
    xattrs: dict = field(default_factory=dict)
    pax: dict = field(default_factory=dict)  # records put in as they are
    fmt: str = "pax"
    sparse: str = ""  # "", "old", "0.1" or "1.0"
    holes: list = field(default_factory=list)  # (offset, bytes) of the data
    size: int = 0  # the size of a sparse file
    version: bytes = b"ustar\x0000"


def _entry(name, type_, usual_mode, **kw):
    return Entry(as_bytes(name), type_, kw.pop("mode", usual_mode), **kw)


def f(name, data=b"", **kw):
    """A regular file."""
    return _entry(name, REG, 0o644, data=as_bytes(data), **kw)


def d(name, **kw):
    """A directory; a name without a final slash gets one."""
    name = as_bytes(name)
    return _entry(name if name.endswith(b"/") else name + b"/", DIR, 0o755, **kw)


def s(name, target, **kw):
    """A symlink."""
    return _entry(name, SYM, 0o777, link=as_bytes(target), **kw)


def h(name, target, **kw):
    """A hardlink."""
    return _entry(name, LNK, 0o644, link=as_bytes(target), **kw)


def wh(name, **kw):
    """The whiteout of `name`: dir/.wh.base."""
    head, _, base = as_bytes(name).rpartition(b"/")
    return f((head + b"/" if head else b"") + b".wh." + base, **kw)


def opq(name=b""):
    """The opaque marker of the directory `name`; of the root without one."""
    name = as_bytes(name)
    return f((name + b"/" if name else b"") + b".wh..wh..opq")


def chr_(name, dev=(1, 3), **kw):
    return _entry(name, CHR, 0o666, dev=dev, **kw)


def blk(name, dev=(7, 0), **kw):
    return _entry(name, BLK, 0o660, dev=dev, **kw)


def fifo(name, **kw):
    return _entry(name, FIFO, 0o600, **kw)


def sparse(name, kind, size, holes, **kw):
    """A sparse file of `size` bytes with data at (offset, bytes) places."""
    return _entry(name, REG, 0o644, sparse=kind, size=size, holes=holes, **kw)


def _octal(value, width):
    return b"%0*o\0" % (width - 1, value)


def _number(value, width, gnu):
    """A numeric field: octal when it fits, else base-256 (gnu) or 0."""
    if 0 <= value < 8 ** (width - 1):
        return _octal(value, width)
    if gnu:
        return (value | 0x80 << 8 * (width - 1)).to_bytes(width, "big")
    return _octal(0, width)


def _pad(data):
    return data + b"\0" * (-len(data) % BLOCK)


def _record(key, value):
    body = b" " + as_bytes(key) + b"=" + as_bytes(value) + b"\n"
    size = len(body) + 1
    while len(str(size)) + len(body) != size:
        size = len(str(size)) + len(body)
    return b"%d" % size + body


def _pax_records(e, data_size):
    """The records this entry needs, then the ones the case asks for."""
    need = {}
    for key, text in (("path", e.name), ("linkpath", e.link)):
        if len(text) > 100 or (e.fmt == "go" and not text.isascii()):
            need[key] = text
    if e.mtime % 10**9 or e.mtime < 0:
        sign, whole = ("-", -e.mtime) if e.mtime < 0 else ("", e.mtime)
        need["mtime"] = "%s%d.%09d" % (sign, whole // 10**9, whole % 10**9)
    for key, value in (("uid", e.uid), ("gid", e.gid)):
        if value > 0o7777777:
            need[key] = str(value)
    if data_size >= 8**11:
        need["size"] = str(data_size)
    for name, value in e.xattrs.items():
        need["SCHILY.xattr." + name] = value
    if e.sparse and e.sparse != "old":
        need.update(_sparse_records(e))
    return {**need, **e.pax}


def _sparse_records(e):
    if e.sparse == "1.0":
        return {"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                "GNU.sparse.name": e.name, "GNU.sparse.realsize": str(e.size)}
    pairs = ",".join("%d,%d" % (at, len(data)) for at, data in e.holes)
    return {"GNU.sparse.size": str(e.size), "GNU.sparse.map": pairs,
            "GNU.sparse.numblocks": str(len(e.holes)), "GNU.sparse.name": e.name}


def _payload(e):
    if not e.sparse:
        return e.data
    body = b"".join(data for _, data in e.holes)
    if e.sparse != "1.0":
        return body
    lines = [len(e.holes)] + [n for at, data in e.holes for n in (at, len(data))]
    return _pad(b"".join(b"%d\n" % n for n in lines)) + body


def _gnu_sparse_tail(e):
    """The old GNU header's map: four places at most (cases need no more)."""
    slots = b"".join(_number(at, 12, True) + _octal(len(data), 12) for at, data in e.holes)
    return b"\0" * 41 + slots.ljust(96, b"\0") + b"\0" + _number(e.size, 12, True)


def _header(e, type_, size, name=None, link=None):
    gnu = e.fmt == "gnu" or e.sparse == "old"
    name = (e.name if name is None else name)[:100]
    link = (e.link if link is None else link)[:100]
    if e.fmt == "go":
        name, link = (bytes(c for c in text if c < 128) for text in (name, link))
    seconds = e.mtime // 10**9
    head = name.ljust(100, b"\0") + _octal(e.mode, 8)
    head += _number(e.uid, 8, gnu) + _number(e.gid, 8, gnu)
    head += _number(size, 12, gnu) + _number(seconds, 12, gnu)
    tail = type_ + link.ljust(100, b"\0")
    tail += b"ustar  \0" if gnu else e.version
    tail += b"\0" * 64 + _octal(e.dev[0], 8) + _octal(e.dev[1], 8)
    if e.sparse == "old":
        tail += _gnu_sparse_tail(e)
    total = sum(head) + 8 * 32 + sum(tail)
    return (head + b"%06o\0 " % total + tail).ljust(BLOCK, b"\0")


def _extension(e, type_, body):
    plain = Entry(b"././@LongLink" if type_ in b"LK" else b"PaxHeaders/x", fmt=e.fmt)
    return _header(plain, type_, len(body)) + _pad(body)


def entry_bytes(e):
    data = _payload(e)
    out = b""
    if e.fmt in ("pax", "go") and e.sparse != "old":
        records = _pax_records(e, len(data))
        if records:
            body = b"".join(_record(k, v) for k, v in records.items())
            out += _extension(e, b"x", body)
    elif e.fmt == "gnu":
        for type_, text in ((b"L", e.name), (b"K", e.link)):
            if len(text) > 100:
                out += _extension(e, type_, text + b"\0")
    type_ = b"S" if e.sparse == "old" else e.type
    return out + _header(e, type_, len(data)) + _pad(data)


def tar_bytes(entries):
    """A whole archive. A layer that is bytes already is taken as it is."""
    if isinstance(entries, bytes):
        return entries
    return b"".join(map(entry_bytes, entries)) + b"\0" * (2 * BLOCK)
