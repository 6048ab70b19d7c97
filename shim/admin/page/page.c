#include "shim/admin/page/page.h"

#include "base/human.h"

#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"referrer\" content=\"no-referrer\">\n";

static const char common_style[] =
    ":root { color-scheme: light dark; --back: #fbfaf8; --card: #fff; --text: #1d2327; "
    "--soft: #5c6670; --line: #dcdfe2; --blue: #3d7ea6; --red: #c8553d; --yellow: #d99a1c; "
    "--violet: #7d5ba6; --green: #5f7a61; }\n"
    "@media (prefers-color-scheme: dark) { :root { --back: #14181b; --card: #1c2226; "
    "--text: #e6e8ea; --soft: #9aa5ae; --line: #343c42; --blue: #4f93bd; --red: #dd6d54; "
    "--yellow: #e0a93c; --violet: #9b7cc4; --green: #7d9b7f; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--back); "
    "color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }\n"
    "h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0 0 .25rem; }\n"
    "section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; "
    "padding: 1rem; margin: 1rem 0; }\n"
    ".soft, footer { color: var(--soft); font-size: .875rem; }\n"
    ".scroll { overflow: auto; max-height: 32rem; }\n"
    "table { border-collapse: collapse; width: 100%; font-size: .875rem; }\n"
    "th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); "
    "vertical-align: top; }\ntd { unicode-bidi: isolate; }\n"
    "td.number, th.number { text-align: right; white-space: nowrap; "
    "font-variant-numeric: tabular-nums; }\n"
    "pre { white-space: pre-wrap; font-size: .875rem; }\n"
    "@media print { section { break-inside: avoid; } .scroll { max-height: none; } }\n";

void page_begin(const struct page_about *about, struct buf *out)
{
    buf_puts(out, head);
    buf_printf(out,
               "<meta name=\"generator\" content=\"%s\">\n<link rel=\"icon\" href=\"data:,\">\n"
               "<title>%s</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<h1>%s</h1>\n",
               about->command, about->title, common_style, about->style, about->title);
}

void page_end(const struct page_about *about, const char *note, struct buf *out)
{
    buf_printf(out, "<footer>Made by <code>%s</code>. %s</footer>\n</body>\n</html>\n",
               about->command, note);
}

void page_put_text(struct buf *out, const char *text, size_t most)
{
    _cleanup_buf_ struct buf shown = BUF_INIT;

    human_put_short(&shown, text, most);
    out->failed = out->failed || shown.failed;
    for (size_t i = 0; i < shown.len; i++) {
        char c = shown.data[i];
        if (strchr("<>&\"'", c))
            buf_printf(out, "&#%d;", c);
        else
            buf_putc(out, c);
    }
}

void page_put_cell(struct buf *out, const char *text, size_t most)
{
    buf_puts(out, "<td>");
    page_put_text(out, text ? text : "", most);
    buf_puts(out, "</td>");
}
