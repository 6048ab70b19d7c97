#!/usr/bin/env python3
"""Prints the policy of a README as one file: the block that begins with "{", with the blocks of further sections."""
import re
import sys


def blocks(text):
    """The indented blocks."""
    return [block for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)]


def main(path):
    with open(path) as file:
        found = blocks(file.read())
    whole = [block for block in found if block.lstrip().startswith("{")]
    sections = [block for block in found if re.match(r'\s*"\w+": ', block)]
    if len(whole) != 1 or not sections:
        sys.exit(f"{path}: {len(whole)} policies and {len(sections)} blocks of further sections")
    print(whole[0].rstrip()[:-1] + "," + ",".join(sections) + "}")


main(sys.argv[1])
