#!/usr/bin/env python3
"""docs/troubleshooting.md against the sources.

Each message in the first column of its tables is part of a message of the sources, where "…" stands for what a message
fills in. Each refusal of the launch, and each failure that flatten meets outside an image, is on the page, or in
self_explanatory.txt; nothing is in both. The page in Chinese has the same messages in the same rows.
"""
import itertools
import re
import sys

from markdown import ROOT

PAGE = "docs/troubleshooting.md"
CHINESE = "docs/zh/troubleshooting.md"
LITERAL = r'"(?:[^"\\]|\\.)*"'
CALL = re.compile(r"\b(err_set|deny|deny_advising|rule|plan_decide)\(")
REFUSES = {"err_set": "ERR_POLICY", "rule": "GPU_DENIED", "plan_decide": "PLAN_DENIED"}
LAUNCH = ("account", "apply", "gather", "mount", "oci", "plan", "prepare", "request", "runtime", "stage")


def message(literals):
    """Adjacent literals as one text, with "…" for conversions."""
    text = "".join(part[1:-1] if part[0] == '"' else "d" for part in re.findall(LITERAL + r"|PRI\w+", literals))
    return re.sub(r"%[-0-9.*]*(?:hh|h|ll|l|z|j)?[a-zA-Z]", "…", text.replace('\\"', '"'))


def literals(text):
    """Each text of the sources that is long enough for a message."""
    for found in re.finditer(rf"{LITERAL}(?:\s*(?:PRI\w+\s*)?{LITERAL})*", text):
        whole = message(found.group(0))
        if " " in whole and len(whole) > 11:
            yield whole


def arguments(text, start):
    """The arguments of a call, up to its closing parenthesis."""
    depth = 1
    for token in re.finditer(LITERAL + r"|[()]", text[start:]):
        depth += {"(": 1, ")": -1}.get(token.group(0), 0)
        if depth == 0:
            return text[start:start + token.start()]
    return ""


def sources(*rooms):
    return [path.read_text() for room in rooms for path in sorted((ROOT / room).rglob("*.c"))]


def refusals():
    """The messages with which a launch is refused."""
    for text in sources(*(f"shim/{room}" for room in LAUNCH)):
        for call in CALL.finditer(text):
            given = arguments(text, call.end())
            if REFUSES.get(call.group(1), "") in given:
                yield from literals(given)


def failures():
    """The messages of flatten for what fails outside an image: engines, registries, files."""
    for text in sources("flatten/keeper", "flatten/command"):
        for call in re.finditer(r"\berr_set\(", text):
            given = arguments(text, call.end())
            if "ERR_SYSTEM" in given:
                yield from literals(given)


def rows(page):
    """For each row of the tables of a page the messages in its first column."""
    found = re.findall(r"^\| (`.*?) \|", (ROOT / page).read_text(), re.M)
    return [re.findall(r"`([^`]+)`", row) for row in found]


def differences():
    """The first row in which the page in Chinese has other messages."""
    for ours, theirs in itertools.zip_longest(rows(PAGE), rows(CHINESE)):
        if ours != theirs:
            return [f"{PAGE} has {ours}, where {CHINESE} has {theirs}"]
    return []


def main():
    plain = (ROOT / "tests/cli/docs/self_explanatory.txt").read_text().splitlines()
    plain = [line for line in plain if line and not line.startswith("#")]
    every = {whole for text in sources("base", "shim", "flatten") for whole in literals(text)}
    required = sorted(set(refusals()) | set(failures()))
    quotes = [quote for row in rows(PAGE) for quote in row]
    bad = [f"{PAGE}: no message has: {quote}" for quote in quotes if not any(quote in whole for whole in every)]
    for whole in required:
        places = any(quote in whole for quote in quotes) + (whole in plain)
        if places != 1:
            bad.append(f"{'neither' if places == 0 else 'both'} on the page and in the list: {whole}")
    bad += [f"self_explanatory.txt: no refusal is: {line}" for line in plain
            if line not in required]
    if len(required) < 100 or len(quotes) < 50:
        bad.append(f"only {len(required)} refusals and {len(quotes)} messages are found")
    bad += differences()
    print(f"{len(required)} refusals and failures, {len(quotes)} quoted, {len(plain)} in the list")
    return bad


sys.exit("\n".join(main()) or 0)
