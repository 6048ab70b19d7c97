"""report.py FLATTEN: tests the page of `flatten analyze --html` in a real browser.

The page has no console errors, no requests and no overflow on a phone or a desktop, in light and dark; sorting
and zooming work; names with markup are shown as text. The exit status is 77 (skipped) without chromium,
except with CI=true.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../../oracle"), os.path.join(HERE, "../../../hack/lib")]

import images  # noqa: E402
from browser import Browser  # noqa: E402
from tarball import d, f, opq, wh  # noqa: E402

HOSTILE = ("</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>",
           "a\u2028b\u2029c", "\u202egpj.exe", "x" * 250, "\x1b[2J\n\"'&amp;", "__proto__", "@DATA@")
PACKAGE = "<img src=x onerror=alert(2)>"
LAYERS = [
    [d("app")] + [f("app/%s" % name, b"h" * (1000 + 10 * n)) for n, name in enumerate(
        name.replace("/", "\u2215") for name in HOSTILE)] +
    [f("data/big", b"1" * 90000), f("data/deep/er/still", b"2" * 30000), f("c", b"3" * 500)],
    [f("var/lib/dpkg/info/%s.list" % PACKAGE, b"/data/big\n/data/deep/er/still\n"), f("app/" + HOSTILE[5], b"h" * 1050, uid=7), f("c", b"4" * 700), wh("data/deep"), d("e")],
    [d("app"), opq("app"), f("app/new", b"5"), f("twice/one", b"6" * 400), f("twice/two", b"6" * 400)],
]
STEPS = ("RUN <b onmouseover=alert(1)>" + "long " * 80, "</script>", "COPY . .")


def written(flatten, home):
    tars = images.tars_of(LAYERS)
    config = images.config_of(tars)
    for entry, step in zip(config["history"], STEPS):
        entry["created_by"] = step
    images.write_oci(home + "/image", tars, config)
    images.write_oci(home + "/one", images.tars_of(LAYERS[:1]))
    page = home + "/page.html"
    subprocess.run([flatten, "analyze", "--html=" + page, "--max-depth=1", "--contents",
                    "--zfs=128K", "--dedup", "oci:" + home + "/image",
                    "oci:" + home + "/one"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return page


class Checks:
    def __init__(self):
        self.failed = 0

    def __call__(self, what, good, found=""):
        if not good:
            self.failed += 1
            print("not ok: %s: %r" % (what, found))


def check_markup(check, page):
    """Checks that no text of the image became an element."""
    for tag, most in (("script", 2), ("img", 0), ("b", 5), ("iframe", 0)):
        found = page.run("document.querySelectorAll('%s').length" % tag)
        check("%s elements" % tag, found <= most, found)
    text = page.run("document.body.textContent")
    for name in HOSTILE[:3] + HOSTILE[6:]:
        check("shown as text: %r" % name, name.replace("/", "\u2215") in text)
    for title in ("Duplicates", "Compression", "Rules", "Advice", "Block deduplication", "Datasets on ZFS"):
        check("section " + title, page.run("!!" + section(title)))
    rows = page.run("[...%s.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)" %
                    section("Block deduplication"))
    check("deduplicated alone and together", rows == ["this image alone", "all images together"], rows)
    check("lines to paste", page.run("%s.querySelector('code').textContent" % section("Datasets on ZFS"))
          .startswith("zfs create -p -o recordsize=128K -o compression="))
    check("where the constants are from", "default constants" in text or "constants measured" in text)
    check("the step is text", STEPS[0].strip() in text)
    check("window.alert was not called", page.run("document.title").startswith("Image costs: oci:"))


def section(title):
    return ("[...document.querySelectorAll('section')].find(s => s.querySelector('h2') && "
            "s.querySelector('h2').textContent === %r)" % title)


def check_sorting(check, page):
    table = section("The worst paths")
    column = "[...%s.querySelectorAll('tbody tr')].map(r => r.cells[3].textContent)" % table
    sizes = "[...%s.querySelectorAll('tbody tr')].map(r => parseFloat(r.cells[0].textContent))" % table
    click = "%s.querySelectorAll('th button')[%d].click()"
    page.run(click % (table, 3))
    ascending = page.run(column)
    check("sorted by path", ascending == sorted(ascending, key=lambda t: t.encode("utf-16-be")) and
          len(ascending) > 5, ascending)
    page.run(click % (table, 3))
    check("and back", page.run(column) == ascending[::-1], page.run(column))
    check("aria-sort", page.run("%s.querySelectorAll('th')[3].ariaSort" % table) == "descending")
    page.run(click % (table, 0))
    first = page.run(column)[0]
    check("numbers sort as numbers, largest first", first == "/data/deep/er/still",
          (first, page.run(sizes)))


def check_zoom(check, page):
    crumbs = "document.querySelectorAll('.crumbs button').length"
    cells = "[...document.querySelectorAll('.cell')].map(c => c.title)"
    check("the map has its largest directory first", page.run(cells)[0].startswith("data/\n"), page.run(cells))
    page.run("document.querySelector('button.cell').click()")
    check("zoomed in", page.run(crumbs) == 2 and all(t.startswith("data/") for t in page.run(cells)),
          page.run(cells))
    page.run("document.querySelector('.crumbs button').click()")
    check("and out", page.run(crumbs) == 1)
    area = page.run("[...document.querySelectorAll('.cell')].every(c => c.offsetLeft >= 0 && c.offsetLeft + "
                    "c.offsetWidth <= c.parentNode.clientWidth + 2 && c.offsetTop + c.offsetHeight <= "
                    "c.parentNode.clientHeight + 2)")
    check("cells stay in the map", area)


def check_packages(check, page):
    """Checks the map by package, and the table of owners."""
    map_ = section("Where the bytes are")
    cells = "[...document.querySelectorAll('.cell')].map(c => c.title)"
    buttons = "%s.querySelectorAll('.views button')" % map_
    check("two maps", page.run("[...%s].map(b => b.textContent)" % buttons) == ["By directory", "By package"])
    page.run("%s[1].click()" % buttons)
    titles = page.run(cells)
    check("the heaviest kind", titles[0].startswith("dpkg\n120.0 kB, 25.0 % dead"), titles)
    check("the package is text", any(t.startswith("dpkg: " + PACKAGE + "\n") and t.endswith("\n1 file, layers 1") for t in titles), titles)
    check("pressed", page.run("[...%s].map(b => b.ariaPressed)" % buttons) == ["false", "true"])
    page.run("document.querySelector('button.cell').click()")
    check("zoomed in", page.run("document.querySelectorAll('.crumbs button')[1].textContent") == "dpkg")
    page.run("%s[0].click()" % buttons)
    check("and back", page.run(cells)[0].startswith("data/"), page.run(cells))
    rows = page.run("[...%s.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))" % section("Owners"))
    check("owners", rows[0] == ["90.0 kB", "30.0 kB", "1", "dpkg", PACKAGE, "1"], rows)


def check_hidden(check, page):
    """Checks the trees of what each layer hides: sums, what is shown, and that they open."""
    trees = section("What each layer hides") + ".querySelectorAll('details.hidden')"
    heads = page.run("[...%s].map(d => d.firstChild.textContent)" % trees)
    check("layers that hide something", [h.split("  ")[0] for h in heads] ==
          ["Layer 2 hides 31.6 kB in 3 files", "Layer 3 hides 9.4 kB in 9 files"], heads)
    check("all are closed", page.run("[...%s].every(d => !d.open)" % trees))
    page.run("%s[0].querySelector('summary').click()" % trees)
    check("a click opens", page.run("%s[0].open" % trees))
    names = page.run("[...%s[0].querySelectorAll('li')].map(l => l.textContent)" % trees)
    check("heaviest first, and one line for directories with one entry",
          names[0] == "data/deep/er/still 30.0 kB, 1 file, deleted, of layer 1", names)
    check("three lines", len(names) == 3, names)
    names = page.run("[...%s[1].querySelectorAll('.name')].map(n => n.textContent)" % trees)
    check("a directory is opened like a layer", names[0] == "app/" and len(names) == 10, names)
    check("causes", "deleted" not in page.run("%s[1].textContent" % trees) and
          "opaque directory" in page.run("%s[1].textContent" % trees))
    page.run("%s[0].querySelector('summary').click()" % trees)


def check_shadows(check, page):
    """Checks that a table wider than its box has a shadow at the edge behind which it goes on."""
    table = section("The worst paths") + ".querySelector('.scroll')"
    page.run("%s.scrollIntoView()" % table)
    box = page.run("(() => { const b = %s.getBoundingClientRect(), r = %s.querySelector('tbody tr').getBoundingClientRect();"
                   " return [b.left + scrollX, b.right + scrollX, r.bottom + scrollY - 4]; })()" % (table, table))
    wide = page.run("%s.scrollWidth > %s.clientWidth" % (table, table))
    edges = lambda: (page.pixel(box[0] + 1, box[2]), page.pixel(box[1] - 2, box[2]))
    card = tuple(map(int, page.run("getComputedStyle(%s).backgroundColor" % section("The worst paths"))[4:-1].split(",")))
    left, right = edges()
    check("no shadow at the beginning", left == card, (left, card))
    check("a shadow where the table goes on", (right != card) == wide, (right, card, wide))
    if not wide:
        return
    page.run("%s.scrollLeft = 1e6" % table)
    page.settle()
    left, right = edges()
    check("a shadow at the other side when scrolled", left != card and right == card, (left, right, card))


def check_choice(check, page):
    page.run("(() => { const s = document.getElementById('images'); s.value = '1'; "
             "s.dispatchEvent(new Event('change')); })()")
    page.settle()
    text = page.run("document.querySelector('.source').textContent")
    check("the other image", text.endswith("/one"), text)


def check_page(check, browser, path, width, dark):
    page = browser.page(width, 900, dark)
    page.open(path)
    found = page.run("[document.documentElement.scrollWidth, innerWidth]")
    check("no overflow at %d" % width, found[0] <= width, found)
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    check("no overflow with all trees open", page.run("document.documentElement.scrollWidth") <= width)
    page.run("document.querySelectorAll('details').forEach(d => d.open = false)")
    back = page.run("getComputedStyle(document.body).backgroundColor")
    check("dark is dark", (sum(map(int, back[4:-1].split(","))) < 200) == dark, back)
    check_markup(check, page)
    check_sorting(check, page)
    check_zoom(check, page)
    check_packages(check, page)
    check_hidden(check, page)
    check_shadows(check, page)
    check_choice(check, page)
    check("no problems at %d" % width, not page.problems, page.problems)


def main():
    if not shutil.which("chromium"):
        print("chromium is not installed")
        return 1 if os.environ.get("CI") == "true" else 77
    check, home = Checks(), tempfile.mkdtemp(prefix="report.")
    try:
        path = written(os.path.abspath(sys.argv[1]), home)
        with Browser() as browser:
            for width, dark in ((380, False), (380, True), (1400, False), (1400, True)):
                check_page(check, browser, path, width, dark)
    finally:
        shutil.rmtree(home)
    print("%d checks failed" % check.failed)
    return check.failed > 0


if __name__ == "__main__":
    sys.exit(main())
