"""Debian packages for bench_debian.py: chosen from apt's index, fetched once, read as tar members.

Names are patterns, so that another release gives other versions but an image of the same shape. What was
chosen is kept in the cache (packages-SIZE.txt: group, file, SHA-256), and is what counts from then on.
"""
import os
import pwd
import re
import subprocess
import tarfile

from bench_image import sha256

# Packages that are in no image of this kind, and content that compresses unlike libraries and code.
NOT_THESE = re.compile(r".*-(dbg|dbgsym|cross)|.*(data|examples|testsuite|test-files).*")
MOST_COMPRESSED = 8


class Package:
    def __init__(self, fields):
        self.name, self.priority = fields["Package"], fields.get("Priority", "optional")
        self.size, self.installed = int(fields["Size"]), int(fields.get("Installed-Size", 0)) * 1024
        self.file = "%s_%s_%s.deb" % (self.name, fields["Version"].replace(":", "%3a"), fields["Architecture"])
        self.sha256 = fields["SHA256"]


def available():
    """The candidates of main, by name."""
    native = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout
    listing = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True, text=True).stdout
    packages = {}
    for stanza in listing.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.split("\n") if re.match(r"[A-Z][^ ]*: ", line))
        if (re.match(r"pool/(updates/)?main/", fields.get("Filename", "")) and "/" not in fields.get("Section", "")
                and fields["Architecture"] in ("all", native.strip())):
            packages[fields["Package"]] = Package(fields)
    if not packages:
        raise SystemExit("bench: apt knows no packages: apt-get update?")
    return packages


def matches(pattern, packages):
    """The packages of a pattern, or of "@PRIORITY": the largest first."""
    if pattern.startswith("@"):
        found = [p for p in packages.values() if p.priority == pattern[1:]]
    else:
        whole = re.compile(pattern)
        found = [p for p in packages.values() if whole.fullmatch(p.name)]
    return sorted(found, key=lambda p: (-p.installed, p.name))


def choose(groups, scale):
    """(group, package) of the packages that fit: each group takes those of its patterns, in turn, up to its megabytes.

    Packages below a thousandth of that are left alone: hundreds would fill the rest.
    """
    packages, chosen = available(), []
    for group, (megabytes, share, patterns) in groups.items():
        left = megabytes * scale * 1e6
        least, largest = left / 1000, left * share
        for pattern in patterns:
            for package in matches(pattern, packages):
                if (min(left, largest) >= package.installed >= least and not NOT_THESE.fullmatch(package.name)
                        and package.installed <= MOST_COMPRESSED * package.size):
                    left -= package.installed
                    chosen.append((group, package))
                    del packages[package.name]
    return chosen


def fetch(cache, wanted):
    """Fetches by apt, which checks signatures and sums; of present files only the sum is checked."""
    missing = [file for file, digest in wanted.items()
               if not os.path.exists(cache + "/" + file) or sha256(cache + "/" + file) != digest]
    if not missing:
        return
    names = ["%s=%s" % tuple(file.replace("%3a", ":").split("_")[:2]) for file in missing]
    print("fetching %d packages into %s" % (len(names), cache), flush=True)
    subprocess.run(["apt-get", "-qq", "download", *names], cwd=cache, check=True)
    for file in missing:
        if sha256(cache + "/" + file) != wanted[file]:
            raise SystemExit("bench: %s/%s is not what apt's index says" % (cache, file))


def packages(cache, groups, gigabytes, full):
    """{group: [path of a .deb]}"""
    if not os.path.isdir(cache):
        os.makedirs(cache)
        if os.getuid() == 0:  # apt fetches as this user, if it may write here
            os.chown(cache, pwd.getpwnam("_apt").pw_uid, -1)
    plan = "%s/packages-%g.txt" % (cache, gigabytes)
    if not os.path.exists(plan):
        lines = ["%s\t%s\t%s\n" % (group, p.file, p.sha256) for group, p in choose(groups, gigabytes / full)]
        with open(plan, "w") as file:
            file.writelines(lines)
    with open(plan) as file:
        rows = [line.split() for line in file]
    fetch(cache, {file: digest for _, file, digest in rows})
    found = {group: [] for group in groups}
    for group, file, _ in rows:
        found[group].append(cache + "/" + file)
    return found


def members(deb, part):
    """(TarInfo, file or None) of a package's archive: "fsys" is installed, "ctrl" is for dpkg."""
    with subprocess.Popen(["dpkg-deb", "--%s-tarfile" % part, deb], stdout=subprocess.PIPE) as unpack:
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as tar:
            for info in tar:
                yield info, tar.extractfile(info) if info.isreg() else None
        unpack.stdout.read()
    if unpack.returncode:
        raise SystemExit("bench: dpkg-deb cannot read " + deb)
