"""The content of a directory as a value, and the differences of two.

A tree maps the path (bytes, b"." is the root) to a dict: type, mode, uid, gid,
mtime (ns), and as the type asks size, content, link, rdev, xattrs, group (the
first path of a hardlink group). An mtime of ANY equals every other.
"""
import hashlib
import os
import stat

ANY = "any"
DAY = 86400 * 10**9
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "symlink",
         stat.S_IFCHR: "char", stat.S_IFBLK: "block", stat.S_IFIFO: "fifo",
         stat.S_IFSOCK: "socket"}


def _xattrs(path):
    found = {}
    for name in os.listxattr(path, follow_symlinks=False):
        if not name.startswith("trusted.overlay.") and name != "security.selinux":
            found[name] = os.getxattr(path, name, follow_symlinks=False)
    return found


def _content(path, size):
    """The bytes of a small file, so that a difference can be read; else a hash."""
    if size <= 24:
        with open(path, "rb") as source:
            return source.read()
    total = hashlib.sha256()
    with open(path, "rb") as source:
        while chunk := source.read(1 << 20):
            total.update(chunk)
    return total.hexdigest()


def _node(path, st, first):
    node = {"type": KINDS[stat.S_IFMT(st.st_mode)], "mode": stat.S_IMODE(st.st_mode),
            "uid": st.st_uid, "gid": st.st_gid, "mtime": st.st_mtime_ns}
    xattrs = _xattrs(path)
    if xattrs:
        node["xattrs"] = xattrs
    if node["type"] == "file":
        node["size"], node["content"] = st.st_size, _content(path, st.st_size)
    elif node["type"] == "symlink":
        node["link"] = os.readlink(path)
    elif node["type"] in ("char", "block"):
        node["rdev"] = (os.major(st.st_rdev), os.minor(st.st_rdev))
    if node["type"] != "dir" and st.st_nlink > 1:
        node["group"] = first
    return node


def _walk(top):
    """Paths relative to top. The kernel lists a whiteout in a directory that one
    layer alone has, but a lookup fails there: that is no path."""
    yield b"."
    pending = [b""]
    while pending:
        base = pending.pop()
        names = [n for n in sorted(os.listdir(os.path.join(top, base)), reverse=True)
                 if os.path.lexists(os.path.join(top, base, n))]
        for name in reversed(names):
            yield os.path.join(base, name)
        for name in names:
            path = os.path.join(base, name)
            if stat.S_ISDIR(os.lstat(os.path.join(top, path)).st_mode):
                pending.append(path)


def read(top, newer_is_any=None):
    """The tree at `top`. An mtime in the day after newer_is_any (ns), that is one
    that the unpacking itself made, becomes ANY."""
    top = os.fsencode(top)
    tree, inodes = {}, {}
    for path in sorted(_walk(top)):
        full = os.path.join(top, path)
        st = os.lstat(full)
        first = inodes.setdefault((st.st_dev, st.st_ino), path)
        node = _node(full, st, first)
        if newer_is_any and 0 <= st.st_mtime_ns - newer_is_any < DAY:
            node["mtime"] = ANY
        tree[path] = node
    return _real_groups(tree)


def _real_groups(tree):
    """A link whose siblings are not in the tree (hidden layers' files keep
    their link count) is no group."""
    count = {}
    for node in tree.values():
        if "group" in node:
            count[node["group"]] = count.get(node["group"], 0) + 1
    for node in tree.values():
        if count.get(node.get("group"), 2) == 1:
            del node["group"]
    return tree


def printable(path):
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def short(text):
    return text if len(text) <= 40 else text[:18] + "…" + text[-18:]


def _same(key, a, b):
    return a == b or (key == "mtime" and ANY in (a, b))


def _show(key, value):
    if key == "mode" and value is not None:
        return oct(value)
    return repr(value)


def diff(expected, got, ignore_root=False):
    """Lines that describe the differences; none if the trees are equal."""
    lines = []
    for path in sorted(expected.keys() | got.keys()):
        name = printable(path)
        a, b = expected.get(path), got.get(path)
        if path == b"." and ignore_root:
            continue
        if a is None or b is None:
            lines.append("%s: %s" % (name, "not expected" if a is None else "missing"))
            continue
        for key in sorted(a.keys() | b.keys()):
            if not _same(key, a.get(key), b.get(key)):
                lines.append("%s: %s is %s, expected %s" % (
                    name, key, _show(key, b.get(key)), _show(key, a.get(key))))
    return lines


def brief(tree, default_mtime=None, root=True):
    """One line for a table: paths with their unusual attributes."""
    parts = []
    for path, node in tree.items():
        if path == b"." and not root:
            continue
        text = short(printable(path))
        parts.append(text + _remarks(node, default_mtime, path == b"."))
        if len(parts) > 24:
            return " ".join(parts) + " … %d paths" % len(tree)
    return " ".join(parts) or "nothing"


def _shown_content(node):
    content = node["content"]
    if isinstance(content, str):
        return "%d bytes" % node["size"]
    return content.decode("ascii", "backslashreplace") if content else "empty"


def _remarks(node, default_mtime, is_root):
    usual = {"file": 0o644, "dir": 0o755, "symlink": 0o777}.get(node["type"])
    marks = [] if node["type"] in ("file", "dir") else [node["type"]]
    if node["mode"] != usual:
        marks.append("%04o" % node["mode"])
    if node["uid"] or node["gid"]:
        marks.append("%d:%d" % (node["uid"], node["gid"]))
    if node["mtime"] == ANY:
        marks += [] if is_root else ["now"]
    elif default_mtime is not None and node["mtime"] != default_mtime:
        marks.append("mtime=%.9g" % (node["mtime"] / 10**9))
    if node["type"] == "file":
        marks.append(_shown_content(node))
    if "link" in node:
        marks.append("->" + short(printable(node["link"])))
    if "rdev" in node:
        marks.append("%d:%d" % node["rdev"])
    marks += sorted(node.get("xattrs", ()))
    if "group" in node:
        marks.append("=" + short(printable(node["group"])))
    slash = "/" if node["type"] == "dir" else ""
    return slash + ("(" + ",".join(marks) + ")" if marks else "")
