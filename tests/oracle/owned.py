"""What each package of a random stack weighs: lists of dpkg in its layers, and a model of owners.

A file that shows belongs to the package whose list has its path, in the tree as it is; one that is hidden, to the
package that a list of the same or of an older layer gives it to, if the newest copy of that list does.
"""
from tarball import f, opq, wh

INFO = "var/lib/dpkg/info"
LISTS = ("p", "q", "q:amd64", "zlib")
LINES = (b"/a", b"/a/b", b"/a/b/c", b"/b", b"/b/a", b"/c", b"/c/a/b", b"a/c", b"/../b/c", b"/a/../c", b"/a/./a", b"/./b/b/",
         b"/a\0", b"..", b"", b"/missing/../a", b"/var/lib/dpkg/info/p.list", b"//c//c", b"x" * 70000, b"/" * 300 + b"b")
MOST_LINKS = 40


def listed(rng, layers):
    """The layers, with lists of packages that come, change and go."""
    if rng.random() < 0.3:
        return layers
    made = []
    for entries in layers:
        entries = list(entries)
        for package in LISTS:
            path, roll = "%s/%s.list" % (INFO, package), rng.random()
            if roll < 0.3:
                entries.append(f(path, b"\n".join(rng.sample(LINES, rng.randint(0, 8))) + b"\n"))
            elif roll < 0.4:
                entries.append(wh(path))
        if rng.random() < 0.1:
            entries.append(opq(INFO))
        made.append(entries)
    return made


class Tree:
    """Paths with what is there: all that show, or also the newest of each that does not."""

    def __init__(self, model, hidden):
        self.nodes = {""} | {path for own in model.owns for path in own}
        self.at = dict(model.state)
        for own in reversed(model.owns) if hidden else ():
            for path, node in own.items():
                if node.kind != "wh":
                    self.at.setdefault(path, node)

    def walk(self, path, follow=False, start="", links=0):
        """(the path that it leads to, or None; the links that were followed)"""
        at = "" if path.startswith(b"/") else start
        names = path.split(b"/")
        for i, name in enumerate(names):
            if name in (b"", b"."):
                continue
            if name == b"..":
                at = at.rpartition("/")[0]
                continue
            to = (at + "/" if at else "") + name.decode(errors="replace")
            node = self.at.get(to)
            if to not in self.nodes:
                return None, links
            if node and node.kind == "link" and (follow or i + 1 < len(names)):
                if links == MOST_LINKS:
                    return None, links
                to, links = self.walk(node.link.encode(), True, at, links + 1)
                if to is None:
                    return None, links
            at = to
        return at, links

    def owners(self):
        """{path: (kind, name)} of files that a list has."""
        found = {}
        for path, node in self.at.items():
            head, _, base = path.rpartition("/")
            if head != INFO or not base.endswith(".list") or not node.file:
                continue
            package = base[:-5].split(":")[0]
            for line in node.file.data.split(b"\n"):
                to = self.walk(line)[0] if len(line) < 65536 else None
                if to is not None and to in self.at and self.at[to].kind != "dir":
                    found[to] = min(found.get(to, package), package)
        found = {path: ("dpkg", package) for path, package in found.items()}
        for path, node in self.at.items():
            if path.startswith("var/lib/dpkg/") and node.kind != "dir":
                found[path] = ("state", "state")
        return found


def strongest(owners):
    """A package of dpkg before none, the first by name; no owner before state."""
    return min(owners, key=lambda owner: (owner is None or owner[0] != "dpkg", owner is not None, owner))


def weights(model):
    """{(kind, name): [files, live, dead_files, dead, layers]}"""
    now, ever = Tree(model, False).owners(), Tree(model, True).owners()
    shown, named, sums = {}, {}, {}
    for path, node in model.state.items():
        shown.setdefault(node.file, []).append(path)
    for own in model.owns:
        for path, node in own.items():
            named.setdefault(node.file, []).append(path)
    for file in model.files:
        if file.names:
            owner = strongest([now.get(path) for path in shown[file]])
        else:
            owner = strongest([ever.get(path) for path in named.get(file, [file.path])])
        sum_ = sums.setdefault(owner or ("directory", "/".join(file.path.split("/")[:-1][:2])), [0, 0, 0, 0, set()])
        sum_[0 if file.names else 2] += 1
        sum_[1 if file.names else 3] += len(file.data)
        sum_[4].add(file.layer)
    return sums


def told(owners):
    """What analyze says, likewise."""
    return {(row["kind"], row["name"]): [row["files"], row["live"], row["dead_files"], row["dead"], set(row["layers"])]
            for row in owners}
