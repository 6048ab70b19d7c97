/* A page without scripts: all text comes from containers. */
#include "shim/admin/copyups/report.h"

#include "base/human.h"
#include "shim/admin/copyups/advice.h"
#include "shim/admin/page/page.h"

#include <string.h>

enum { PATH_SHOWN = 1000, CREATED_BY_SHOWN = 500 };

static const struct page_about about = {
    .title = "Above the images",
    .command = "flatbed copyups",
    .style = ".bar { display: flex; height: 1rem; border-radius: 3px; overflow: hidden; "
             "margin: .5rem 0; }\n.bar i { display: block; }\n"
             ".legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .875rem; "
             "padding: 0; list-style: none; }\n"
             ".legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; "
             "margin-right: .4em; }\n"
             ".new { background: var(--blue); } .copied { background: var(--red); } "
             ".metadata { background: var(--yellow); } .replaced { background: var(--violet); }\n",
};

void copyups_html_begin(struct buf *out)
{
    page_begin(&about, out);
}

void copyups_html_end(struct buf *out)
{
    page_end(&about,
             "Sizes are of blocks on the disk, in powers of 1000. Layers are numbered from the "
             "bottom.",
             out);
}

static void put_cell_size(struct buf *out, uint64_t bytes)
{
    char size[HUMAN_SIZE];

    buf_printf(out, "<td class=\"number\">%s</td>", human_size(bytes, size));
}

static void put_head(const struct copyups_report *r, struct buf *out)
{
    const struct container_found *c = r->container;
    char size[HUMAN_SIZE];

    buf_puts(out, "<section>\n<h2>");
    page_put_text(out, c->name, PATH_SHOWN);
    buf_printf(out, ": %s</h2>\n<p class=\"soft\">%s%s ", human_size(r->tally->disk, size),
               c->running ? "" : "stopped, ", container_engine_names[c->engine]);
    page_put_text(out, c->id, PATH_SHOWN);
    if (c->image) {
        buf_puts(out, ", of ");
        page_put_text(out, c->image, PATH_SHOWN);
    }
    buf_puts(out, "</p>\n");
}

/* Appends a bar of the sums, and what its colours mean. */
static void put_sums(const struct tally *t, struct buf *out)
{
    static const char *const words[CHANGES] = {"copied up", "copied up without data",
                                               "put in place of files of the image", "new"};
    char size[HUMAN_SIZE];

    buf_puts(out, "<div class=\"bar\">");
    for (size_t i = 0; i < CHANGES; i++)
        if (t->sums[i].disk)
            buf_printf(out, "<i class=\"%s\" style=\"flex: %llu\"></i>", change_names[i],
                       (unsigned long long)t->sums[i].disk);
    buf_puts(out, "</div>\n<ul class=\"legend\">");
    for (size_t i = 0; i < CHANGES; i++)
        if (t->sums[i].files)
            buf_printf(out, "<li><i class=\"%s\"></i>%s: %llu file%s, %s</li>", change_names[i],
                       words[i], (unsigned long long)t->sums[i].files, human_s(t->sums[i].files),
                       human_size(t->sums[i].disk, size));
    if (t->reflinked.files)
        buf_printf(out, "<li>shared with the image: %s</li>", human_size(t->reflinked.disk, size));
    if (t->whiteouts || t->opaque)
        buf_printf(out, "<li>deleted: %llu name%s, all that %llu director%s had</li>",
                   (unsigned long long)t->whiteouts, human_s(t->whiteouts),
                   (unsigned long long)t->opaque, t->opaque == 1 ? "y" : "ies");
    if (t->unread)
        buf_printf(out, "<li>not read: %llu director%s; the numbers are too low</li>",
                   (unsigned long long)t->unread, t->unread == 1 ? "y" : "ies");
    buf_puts(out, "</ul>\n");
}

static void put_files(const struct copyups_report *r, struct buf *out)
{
    if (r->tally->file_count == 0)
        return;
    buf_puts(out, "<div class=\"scroll\"><table><thead><tr><th class=\"number\">Size</th>"
                  "<th>File of the image</th><th>Change</th><th class=\"number\">Layer</th>"
                  "<th>Made by</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->tally->file_count; i++) {
        const struct tally_file *f = &r->tally->files[i];
        buf_puts(out, "<tr>");
        put_cell_size(out, f->disk);
        page_put_cell(out, f->path, PATH_SHOWN);
        page_put_cell(out, f->shared ? "copied, shares blocks" : change_names[f->change],
                      PATH_SHOWN);
        buf_printf(out, "<td class=\"number\">%zu</td>", r->root->count - f->layer);
        page_put_cell(out, f->layer < r->root->count ? r->root->about[f->layer].created_by : NULL,
                      CREATED_BY_SHOWN);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

static int put_directories(const struct copyups_report *r, struct buf *out, struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf snippet = BUF_INIT;
    size_t count = r->tally->largest_count;
    struct advice *list = arena_alloc(&arena, (count + 1) * sizeof(*list));

    if (!list)
        return err_nomem(err);
    if (count)
        buf_puts(out, "<div class=\"scroll\"><table><thead><tr><th class=\"number\">Size</th>"
                      "<th class=\"number\">Files</th><th>Directory</th><th>What</th>"
                      "<th>What would have avoided it</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        const struct tally_directory *d = &r->tally->largest[i];
        if (advice_on(d, r->policy, &arena, &list[i], err) < 0)
            return -1;
        buf_puts(out, "<tr>");
        put_cell_size(out, d->sum.disk);
        buf_printf(out, "<td class=\"number\">%llu</td>", (unsigned long long)d->sum.files);
        page_put_cell(out, d->path, PATH_SHOWN);
        page_put_cell(out, list[i].what, PATH_SHOWN);
        page_put_cell(out, list[i].say, PATH_SHOWN);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, count ? "</tbody></table></div>\n" : "");
    advice_snippet(list, count, "", &snippet);
    if (snippet.len) {
        buf_puts(out, "<p>For <code>volumes</code> of the policy:</p>\n<pre>");
        for (char *line = snippet.data, *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            page_put_text(out, line, strlen(line));
            buf_putc(out, '\n');
        }
        buf_puts(out, "</pre>\n");
    }
    return buf_check(&snippet, err);
}

int copyups_html(const struct copyups_report *report, struct buf *out, struct err *err)
{
    put_head(report, out);
    put_sums(report->tally, out);
    put_files(report, out);
    if (put_directories(report, out, err) < 0)
        return -1;
    buf_puts(out, "</section>\n");
    return buf_check(out, err);
}
