#!/usr/bin/env python3
"""Each link of the documentation to a file leads to one, and each anchor to a heading."""
import sys

from markdown import ROOT, anchors, links, pages

bad = []
for page in pages():
    for link in links(page):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        if not target.exists():
            bad.append(f"{page}: {link}: there is no such file")
        elif anchor and anchor not in anchors(target.relative_to(ROOT)):
            bad.append(f"{page}: {link}: there is no such heading")
index = {str(((ROOT / "docs/README.md").parent / link.partition("#")[0]).resolve()) for link in links("docs/README.md")}
bad += [f"docs/README.md does not lead to {page}" for page in pages()
        if str(page).startswith("docs/") and page.name != "README.md" and str(ROOT / page) not in index]
sys.exit("\n".join(bad) or 0)
