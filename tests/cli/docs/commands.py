#!/usr/bin/env python3
"""The commands of the documentation.

commands.py options          each sub-command and long option of our programs exists, in blocks and code spans; an
                             option that stands alone is one of ours, or in other_options.txt
commands.py marks            each fenced block of sh says how it is tested, or why not
commands.py script PAGE      prints the blocks of PAGE that are marked "run"
"""
import os
import pathlib
import re
import sys

from markdown import ROOT, blocks, pages, printed, spans

RUNTIME = {"--flatbed-policy", "--flatbed-runtime", "--flatbed-version"}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def known(program, commands):
    """For each command of a program, "" for none: its long options."""
    every = set(OPTION.findall(printed(program, "--help")))
    return {"": every} | {name: set(OPTION.findall(printed(program, name, "--help"))) | {"--version", "--completion"}
                          for name in commands}


def listed(program):
    """The commands in the help of a program."""
    text = printed(program, "--help")
    return re.findall(r"^  ([a-z][a-z-]*) ", text[text.index("Commands:"):text.index("Options of")], re.M)


def simple(text):
    """The simple commands of a text, without comments, variables and sudo before them."""
    text = re.sub(r"\\\n", " ", text)
    for line in text.splitlines():
        line = re.sub(r"(^|\s)(#|//).*", "", line)
        line = re.sub(r"^\s*(- )?(run: )?(- )?[\"']?", "", line)
        for command in re.split(r"&&|\|\||[;|()]", line):
            words = command.split()
            while words and (words[0] in ("sudo", "nice", "time", "exec") or re.match(r"[A-Z_]+=", words[0])):
                words.pop(0)
            if words:
                yield words


def wrong(words, helps):
    """The reason why one of our programs would not take these words; None if it would."""
    program = words[0].rsplit("/", 1)[-1]
    words = words[:words.index("--")] if "--" in words else words
    options = {word.split("=")[0] for word in OPTION.findall(" ".join(words[1:]))}
    if re.fullmatch(r"(\./)?hack/[\w-]+", words[0]) and not (ROOT / words[0]).exists():
        return "there is no such script"
    if program == "flatbed-runtime":
        strange = {word for word in options if word.startswith("--flatbed")} - RUNTIME
        return f"it has no {' '.join(strange)}" if strange else None
    if program not in helps or len(words) < 2:
        return None
    command = next((word for word in words[1:] if not word.startswith("-")), "")
    if program == "flatten" and command not in helps[program]:
        command = "squash"
    if re.fullmatch(r"[a-z-]+", command) and command not in helps[program]:
        return f"it has no command {command}"
    strange = options - helps[program].get(command, helps[program][""]) - helps[program][""]
    return f"{command} has no {' '.join(sorted(strange))}" if strange else None


def check_alone(helps):
    """The options that stand alone in a code span, and that no program has."""
    ours = RUNTIME.union(*(options for commands in helps.values() for options in commands.values()))
    others = set((ROOT / "tests/cli/docs/other_options.txt").read_text().split())
    return [f"{page}: {span}: no program has it" for page in pages() for span in spans(page)
            if span.startswith("--") and span.split()[0].split("=")[0] not in ours | others]


def check_options():
    programs = {"flatten": os.environ["FLATTEN"], "flatbed": os.environ["FLATBED"]}
    helps = {name: known(path, listed(path)) for name, path in programs.items()}
    bad, count = [], 0
    for page in pages():
        texts = [(block.line, block.text) for block in blocks(page)] + [("code", span) for span in spans(page)]
        for place, text in texts:
            for words in simple(text):
                count += words[0].rsplit("/", 1)[-1] in helps
                reason = wrong(words, helps)
                if reason:
                    bad.append(f"{page}:{place}: {' '.join(words)}: {reason}")
    print(f"{count} commands")
    bad += check_alone(helps)
    return bad if count > 100 else bad + ["the commands of the pages are not found"]


def marked(block):
    """True if a block names a test that exists, says that it is run, or why it is not."""
    kind, _, rest = block.mark.partition(":")
    if kind == "test":
        return all((ROOT / path).exists() for path in rest.split())
    return block.mark == "run" or (kind == "not run" and len(rest.split()) > 1)


def check_marks():
    return [f"{page}:{block.line}: the block needs <!-- run -->, <!-- test: FILE --> or <!-- not run: reason -->"
            for page in pages() for block in blocks(page) if block.info in ("sh", "console") and not marked(block)]


def script(page):
    for block in blocks(pathlib.Path(page)):
        if block.mark == "run":
            print(f"echo '{page}:{block.line}' >&2\n{block.text}")
    return []


def main(command, *operands):
    return {"options": check_options, "marks": check_marks, "script": script}[command](*operands)


sys.exit("\n".join(main(*sys.argv[1:])) or 0)
