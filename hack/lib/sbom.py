#!/usr/bin/env python3
"""Writes the SBOM (SPDX 2.3, JSON) of static programs, from what the linker really read.

sbom.py --name NAME --version V --created SECONDS --sources PREFIX --log LOG PROGRAM...

LOG is the output of a build with -Wl,--trace: the linker names each archive member that it takes. An archive belongs
to the Debian package that installed it, or is one of PREFIX/sources ("ARCHIVE PACKAGE VERSION", built from Debian's
sources). An archive that belongs to neither is an error. The licences are the short names of the copyright files, if
SPDX knows them; others are named by a LicenseRef with the name that Debian gives.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

# Short names of Debian's copyright format 1.0 that SPDX calls otherwise.
SPDX = {"Expat": "MIT", "MIT": "MIT", "BSD-3-clause": "BSD-3-Clause", "BSD-2-clause": "BSD-2-Clause", "ISC": "ISC",
        "Apache-2": "Apache-2.0", "Apache-2.0": "Apache-2.0", "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later",
        "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "curl": "curl", "Zlib": "Zlib", "zlib": "Zlib",
        "GPL-1+": "GPL-1.0-or-later", "Artistic": "Artistic-1.0-Perl", "CC0-1.0": "CC0-1.0", "X11": "X11",
        "OLDAP-2.8": "OLDAP-2.8"}
# Copyright files without the format: the licence of the archive, as the file says.
PLAIN = {"libc6-dev": "LGPL-2.1-or-later", "libgcc": "GPL-3.0-or-later WITH GCC-exception-3.1"}


def run(*words):
    return subprocess.run(words, text=True, capture_output=True, check=True).stdout


def archives(log):
    """Returns the archives of which a member was linked."""
    with open(log, errors="replace") as file:
        text = file.read()
    found = {os.path.realpath(name) for name in re.findall(r"^\(?(/[^\s()]+\.a)\)?", text, re.M)}
    return sorted(found)


def installed(archive):
    """Returns the binary package of an installed archive, with its architecture if dpkg tells it, or None."""
    for path in (archive, re.sub(r"^/usr/lib/", "/lib/", archive)):
        done = subprocess.run(["dpkg", "-S", path], text=True, capture_output=True)
        if done.returncode == 0:
            return done.stdout.split(": ")[0]
    return None


def identifier(name, references):
    """Returns what SPDX calls a licence; a LicenseRef for an unknown one is added to `references`."""
    if name in SPDX:
        return SPDX[name]
    key = "LicenseRef-debian-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name.replace("+", "-or-later")).strip("-")
    references[key] = name
    return key


def licence(text, package):
    """Returns the licence expression of a copyright file, for all of the source, and the LicenseRefs in it: reference, Debian's name."""
    for prefix, expression in PLAIN.items():
        if package.startswith(prefix):
            return expression, {}
    if "/copyright-format/1.0" not in text:
        return "NOASSERTION", {}
    choices = set()
    for paragraph in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:((?:.*\n)(?:[ \t].*\n)*)", paragraph + "\n", re.M)
        line = re.search(r"^License:[ \t]*(\S.*)$", paragraph, re.M)
        if files and line and files.group(1).split() != ["debian/*"]:
            choices.update(part.strip(" ,") for part in re.split(r"\s+and\s+|,", line.group(1)) if part.strip(" ,"))
    references, parts = {}, set()
    for choice in choices:
        names = [identifier(name, references) for name in re.split(r"\s+or\s+", choice)]
        parts.add(names[0] if len(names) == 1 else f"({' OR '.join(names)})")
    return " AND ".join(sorted(parts)) or "NOASSERTION", references


def component(archive, built, prefix):
    """Returns the SPDX package of one archive, and its LicenseRefs."""
    if archive in built:
        package, version = built[archive]
        source, arch, copyright_file = package, "source", os.path.join(prefix, package + ".copyright")
    else:
        package = installed(archive)
        if not package:
            sys.exit(f"sbom: {archive} belongs to no package")
        version, source, arch = run("dpkg-query", "-W", "-f", "${Version} ${source:Package} ${Architecture}\\n",
                                    package).split("\n")[0].split()
        package = package.split(":")[0]
        copyright_file = f"/usr/share/doc/{package}/copyright"
    with open(copyright_file, errors="replace") as file:
        expression, references = licence(file.read(), package)
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", package), "name": package, "versionInfo": version,
        "supplier": "Organization: Debian", "downloadLocation": f"https://packages.debian.org/source/{source}",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": expression,
        "licenseComments": "all licences of the source package; those of its tools and tests do not apply to what is linked",
        "copyrightText": "NOASSERTION", "comment": "linked statically: " + os.path.basename(archive),
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}?arch={arch}"}],
    }, references


def merged(components):
    """Returns one component for each package, with all its archives."""
    found = {}
    for each in components:
        first = found.setdefault(each["SPDXID"], each)
        if first is not each:
            first["comment"] += ", " + each["comment"].split(": ")[1]
    return list(found.values())


def program(path):
    with open(path, "rb") as file:
        data = file.read()
    name = os.path.basename(path)
    return {"SPDXID": "SPDXRef-File-" + name, "fileName": "./bin/" + name, "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
            "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"}


def document(name, version, created, files, components, references):
    code = hashlib.sha1("".join(sorted(f["checksums"][0]["checksumValue"] for f in files)).encode()).hexdigest()
    own = {"SPDXID": "SPDXRef-flatbed", "name": "flatbed", "versionInfo": version, "supplier": "NOASSERTION",
           "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
           "packageVerificationCode": {"packageVerificationCodeValue": code}, "licenseInfoFromFiles": ["NOASSERTION"],
           "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}

    def relation(first, kind, second):
        return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}

    found = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://flatbed.example/spdx/{name}-{code}",
        "creationInfo": {"created": datetime.datetime.utcfromtimestamp(created).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: flatbed-hack-lib-sbom.py"]},
        "packages": [own] + components, "files": files,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-flatbed")]
        + [relation("SPDXRef-flatbed", "CONTAINS", each["SPDXID"]) for each in files]
        + [relation("SPDXRef-flatbed", "STATIC_LINK", each["SPDXID"]) for each in components],
    }
    if references:
        found["hasExtractedLicensingInfos"] = [
            {"licenseId": key, "name": value, "extractedText": f"The licence that Debian's copyright file calls {value}"}
            for key, value in sorted(references.items())]
    return found


def main():
    parser = argparse.ArgumentParser()
    for option in ("--name", "--version", "--sources", "--log"):
        parser.add_argument(option, required=True)
    parser.add_argument("--created", required=True, type=int)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.sources, "sources")) as file:
        built = {os.path.realpath(line.split()[0]): line.split()[1:] for line in file}
    inner = os.path.realpath(os.path.dirname(arguments.sources))
    components, references = [], {}
    for archive in archives(arguments.log):
        if archive.startswith(os.path.join(inner, "build") + os.sep):
            continue  # a room of the project
        found, more = component(archive, built, arguments.sources)
        components.append(found)
        references.update(more)
    json.dump(document(arguments.name, arguments.version, arguments.created, [program(p) for p in arguments.programs],
                       merged(components), references), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
