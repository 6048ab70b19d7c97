"""Pages in Markdown: their code blocks, code spans, headings and links."""
import pathlib
import re
import subprocess
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Block(NamedTuple):
    line: int
    info: str  # of a fence; "indented" without one
    mark: str  # the HTML comment before the block, or ""
    text: str


def pages():
    """The pages that users read, relative to the root of the sources."""
    found = [ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md")]
    found += sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / "deploy").rglob("*.md"))
    return [path.relative_to(ROOT) for path in found]


def blocks(page):
    """The fenced and the indented blocks of a page."""
    found, fence, indented, mark = [], None, [], ""
    for number, line in enumerate((ROOT / page).read_text().splitlines() + [""], 1):
        if fence is not None:
            if line.strip() == "```":
                found.append(Block(fence[0], fence[1], mark, "\n".join(fence[2])))
                fence, mark = None, ""
            else:
                fence[2].append(line)
        elif line.startswith("```"):
            fence = (number, line[3:].strip(), [])
        elif line.startswith("    "):
            indented.append(line[4:])
        else:
            if indented:
                found.append(Block(number - len(indented), "indented", mark, "\n".join(indented)))
                indented, mark = [], ""
            comment = re.fullmatch(r"<!-- (.*) -->", line)
            if comment or line:
                mark = comment.group(1) if comment else ""
    return found


def prose(page):
    """The text of a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.M | re.S)


def spans(page):
    """The code spans of a page."""
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]


def anchors(page):
    """The anchors that GitHub makes of the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page):
    """The targets of links and pictures of a page."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page)))


def printed(*words):
    """The standard output of a program."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
