/* The diagnoses as a page: the worst first, those in order folded away. */
#include "shim/admin/doctor/diagnosis/diagnosis.h"

#include "shim/admin/page/page.h"

#include <time.h>
#include <unistd.h>

enum { TEXT_SHOWN = 2000 };

static const struct page_about about = {
    .title = "This host, for containers of deep learning",
    .command = "flatbed doctor",
    .style = ".tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); "
             "gap: .75rem; background: none; border: 0; padding: 0; }\n"
             ".tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; "
             "border-top: 5px solid var(--level); padding: .6rem .9rem; }\n"
             ".tile b { display: block; font-size: 1.5rem; line-height: 1.3; "
             "font-variant-numeric: tabular-nums; }\n"
             ".tile span { color: var(--soft); font-size: .875rem; }\n"
             ".finding { border-left: 5px solid var(--level); }\n"
             "h2, dd { unicode-bidi: isolate; }\n"
             "p { margin: .25rem 0 .75rem; }\n"
             "dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); "
             "gap: .25rem .75rem; margin: 0; }\ndt { color: var(--soft); }\ndd { margin: 0; }\n"
             "summary { cursor: pointer; font-weight: 600; margin: 1rem 0; }\n"
             ".ok { --level: var(--green); } .advice { --level: var(--blue); } "
             ".warning { --level: var(--yellow); } .error { --level: var(--red); }\n",
};

static void put_counts(const struct diagnoses *d, struct buf *out)
{
    static const char *const words[DIAGNOSIS_LEVELS] = {"in order", "to consider", "warnings",
                                                        "errors"};

    buf_puts(out, "<section class=\"tiles\">\n");
    for (int level = DIAGNOSIS_LEVELS - 1; level >= 0; level--)
        buf_printf(out, "<div class=\"tile %s\"><b>%zu</b><span>%s</span></div>\n",
                   diagnosis_level_names[level], diagnoses_count(d, (enum diagnosis_level)level),
                   words[level]);
    buf_puts(out, "</section>\n");
}

static void put_line(const char *word, const char *text, struct buf *out)
{
    if (!text)
        return;
    buf_printf(out, "<dt>%s</dt><dd>", word);
    page_put_text(out, text, TEXT_SHOWN);
    buf_puts(out, "</dd>\n");
}

static void put_one(const struct diagnosis *of, struct buf *out)
{
    const char *level = diagnosis_level_names[of->level];

    buf_printf(out, "<section class=\"finding %s\">\n<h2>", level);
    page_put_text(out, of->subject, TEXT_SHOWN);
    buf_printf(out, "</h2>\n<p class=\"soft\">%s, <code>%s</code></p>\n<dl>\n", level, of->id);
    put_line("seen", of->seen, out);
    put_line("costs", of->cost, out);
    put_line("mend", of->mend, out);
    buf_puts(out, "</dl>\n</section>\n");
}

static void put_level(const struct diagnoses *d, enum diagnosis_level level, struct buf *out)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i].level == level)
            put_one(&d->list[i], out);
}

/* Appends the host's name, and the time in UTC. */
static void put_host(struct buf *out)
{
    char name[256] = "", when[32] = "";
    time_t now = time(NULL);
    struct tm utc;

    gethostname(name, sizeof(name) - 1);
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &utc);
    buf_puts(out, "<p class=\"soft\">");
    page_put_text(out, name, TEXT_SHOWN);
    buf_printf(out, ", %s</p>\n", when);
}

void diagnoses_html(const struct diagnoses *d, struct buf *out)
{
    size_t in_order = diagnoses_count(d, DIAGNOSIS_OK);

    page_begin(&about, out);
    put_host(out);
    put_counts(d, out);
    put_level(d, DIAGNOSIS_ERROR, out);
    put_level(d, DIAGNOSIS_WARNING, out);
    put_level(d, DIAGNOSIS_ADVICE, out);
    if (in_order) {
        buf_printf(out, "<details>\n<summary>%zu in order</summary>\n", in_order);
        put_level(d, DIAGNOSIS_OK, out);
        buf_puts(out, "</details>\n");
    }
    page_end(&about, "<code>man flatbed</code> lists all diagnoses.", out);
}
