"""Large images, written quickly: entries by the hundred thousand, docker-archives of such layers."""
import hashlib
import json

BLOCK = 512


def _octal(value, width):
    return b"%0*o\0" % (width - 1, value)


def header(name, type_=b"0", size=0, link=b"", mode=0o644):
    """Returns a ustar header; a size with too many digits is in base 256."""
    number = _octal(size, 12) if size < 8**11 else (size | 0x80 << 88).to_bytes(12, "big")
    head = name.ljust(100, b"\0") + _octal(mode, 8) + b"0000000\0" * 2 + number + b"00000000000\0"
    tail = type_ + link.ljust(100, b"\0") + b"ustar\x0000"
    if len(head) != 148:
        raise ValueError("a name of %d bytes" % len(name))
    return (head + b"%06o\0 " % (sum(head) + 8 * 32 + sum(tail)) + tail).ljust(BLOCK, b"\0")


def padded(data):
    return data + bytes(-len(data) % BLOCK)


def record(key, value):
    body = b" " + key + b"=" + value + b"\n"
    size = len(body) + 1
    while len(b"%d" % size) + len(body) != size:
        size = len(b"%d" % size) + len(body)
    return b"%d" % size + body


def with_records(records, *words, **named):
    """Returns an entry with a pax header."""
    data = b"".join(record(k, v) for k, v in records)
    return header(b"PaxHeaders/x", b"x", len(data)) + padded(data) + header(*words, **named)


def directory(name):
    return header(name + b"/", b"5", mode=0o755)


def link(name, target):
    return header(name, b"1", link=target)


def symlink(name, target):
    return header(name, b"2", link=target)


def whiteout(name):
    head, slash, base = name.rpartition(b"/")
    return header(head + slash + b".wh." + base)


def layer(entries):
    return b"".join(entries) + bytes(2 * BLOCK)


def save(path, layers, before=(), pack=bytes):
    """Writes a docker-archive of layers, given as bytes, each packed; `before` are members [(name, data)] in front."""
    diff_ids = ["sha256:" + hashlib.sha256(data).hexdigest() for data in layers]
    names = ["%s/layer.tar" % digest[7:] for digest in diff_ids]
    config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": diff_ids}}
    manifest = [{"Config": "config.json", "RepoTags": ["big:1"], "Layers": names}]
    with open(path, "wb") as out:
        for name, data in before:
            out.write(header(name, size=len(data)) + padded(data))
        for name, data in dict(zip(names, map(pack, layers))).items():
            out.write(header(name.encode(), size=len(data)))
            out.write(padded(data))
        for name, value in (("config.json", config), ("manifest.json", manifest)):
            data = json.dumps(value).encode()
            out.write(header(name.encode(), size=len(data)) + padded(data))
        out.write(bytes(2 * BLOCK))
    return path
