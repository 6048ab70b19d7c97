#include "shim/admin/copyups/report.h"

#include "base/cli/columns.h"
#include "base/human.h"
#include "shim/admin/copyups/advice.h"

#include <string.h>

enum { ID_SHOWN = 12, CREATED_BY_SHOWN = 100, PATH_SHOWN = 400 };

/* Appends a size, right-aligned. */
static void put_size(struct buf *out, uint64_t bytes)
{
    char size[HUMAN_SIZE];

    buf_printf(out, "%10s", human_size(bytes, size));
}

static void put_text(struct buf *out, const char *text, size_t most)
{
    human_put_short(out, text, most);
}

static void print_head(const struct copyups_report *r, bool colour, struct buf *out)
{
    const struct container_found *c = r->container;
    char size[HUMAN_SIZE];

    buf_puts(out, colour ? "\033[1m" : "");
    put_text(out, c->name, PATH_SHOWN);
    buf_printf(out, "%s  %s", colour ? "\033[0m" : "", container_engine_names[c->engine]);
    if (strcmp(c->id, c->name) != 0) {
        buf_putc(out, ' ');
        buf_put_printable(out, c->id, strnlen(c->id, ID_SHOWN));
    }
    if (c->image) {
        buf_puts(out, " of ");
        put_text(out, c->image, PATH_SHOWN);
    }
    buf_printf(out, "%s: %s in its upper directory\n", c->running ? "" : ", stopped",
               human_size(r->tally->disk, size));
}

static void print_sum(const char *what, const struct tally_sum *sum, const char *more,
                      struct buf *out)
{
    if (sum->files == 0)
        return;
    put_size(out, sum->disk);
    buf_printf(out, "  %s: %llu file%s%s\n", what, (unsigned long long)sum->files,
               human_s(sum->files), more);
}

static void print_sums(const struct tally *t, struct buf *out)
{
    char shared[96] = "", size[HUMAN_SIZE];

    if (t->reflinked.files)
        snprintf(shared, sizeof(shared), ", of which %llu share %s with the image",
                 (unsigned long long)t->reflinked.files, human_size(t->reflinked.disk, size));
    print_sum("new", &t->sums[CHANGE_NEW], "", out);
    print_sum("copied up from the image", &t->sums[CHANGE_COPIED], shared, out);
    print_sum("copied up without their data", &t->sums[CHANGE_METADATA], "", out);
    print_sum("put in place of files of the image", &t->sums[CHANGE_REPLACED], "", out);
    if (t->whiteouts || t->opaque)
        buf_printf(out, "%10s  deleted from the image: %llu name%s", "",
                   (unsigned long long)t->whiteouts, human_s(t->whiteouts));
    if (t->opaque)
        buf_printf(out, ", all that %llu director%s had", (unsigned long long)t->opaque,
                   t->opaque == 1 ? "y" : "ies");
    if (t->whiteouts || t->opaque)
        buf_putc(out, '\n');
    if (t->unread)
        buf_printf(out, "%10s  not read: %llu director%s; the numbers are too low\n", "",
                   (unsigned long long)t->unread, t->unread == 1 ? "y" : "ies");
}

/* Layers are numbered from the bottom, as the lines of a Dockerfile. */
static size_t layer_number(const struct copyups_report *r, size_t index)
{
    return r->root->count - index;
}

static void put_layer(const struct copyups_report *r, size_t index, struct buf *out)
{
    const char *by = index < r->root->count ? r->root->about[index].created_by : NULL;

    buf_printf(out, "layer %zu", layer_number(r, index));
    if (by) {
        buf_puts(out, ": ");
        put_text(out, by, CREATED_BY_SHOWN);
    }
}

static void print_files(const struct copyups_report *r, struct buf *out)
{
    if (r->tally->file_count)
        buf_puts(out, "  the largest of these, and the layer that has the file:\n");
    for (size_t i = 0; i < r->tally->file_count; i++) {
        const struct tally_file *f = &r->tally->files[i];
        put_size(out, f->disk);
        buf_puts(out, "  ");
        put_text(out, f->path, PATH_SHOWN);
        if (f->change == CHANGE_REPLACED)
            buf_puts(out, " (replaced)");
        else if (f->shared)
            buf_puts(out, f->shared == f->disk ? " (shares its blocks)" : " (shares some blocks)");
        buf_puts(out, "  ");
        put_layer(r, f->layer, out);
        buf_putc(out, '\n');
    }
}

static void print_layers(const struct copyups_report *r, struct buf *out)
{
    size_t used = 0;

    for (size_t i = 0; i < r->tally->layer_count; i++)
        used += r->tally->layers[i].files != 0;
    if (used < 2)
        return;
    buf_puts(out, "  copied up, by layer:\n");
    for (size_t i = 0; i < r->tally->layer_count; i++) {
        const struct tally_sum *sum = &r->tally->layers[i];
        if (sum->files == 0)
            continue;
        put_size(out, sum->disk);
        buf_printf(out, "  %llu file%s of ", (unsigned long long)sum->files, human_s(sum->files));
        put_layer(r, i, out);
        buf_putc(out, '\n');
    }
}

/* Appends the advice, unless the directory before had the same. */
static void print_advice(const char *say, const char *before, size_t terminal, struct buf *out)
{
    static const char margin[] = "            ";

    if (!say || (before && strcmp(before, say) == 0))
        return;
    buf_puts(out, margin);
    columns_fold(say, strlen(margin), terminal, out);
    buf_putc(out, '\n');
}

static int print_directories(const struct copyups_report *r, size_t terminal, struct buf *out,
                             struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    struct advice *list = arena_alloc(&arena, (r->tally->largest_count + 1) * sizeof(*list));
    _cleanup_buf_ struct buf snippet = BUF_INIT;

    if (!list)
        return err_nomem(err);
    if (r->tally->largest_count)
        buf_puts(out, "  the largest directories:\n");
    for (size_t i = 0; i < r->tally->largest_count; i++) {
        const struct tally_directory *d = &r->tally->largest[i];
        if (advice_on(d, r->policy, &arena, &list[i], err) < 0)
            return -1;
        put_size(out, d->sum.disk);
        buf_puts(out, "  ");
        put_text(out, d->path, PATH_SHOWN);
        buf_printf(out, "  %llu file%s%s%s\n", (unsigned long long)d->sum.files,
                   human_s(d->sum.files), list[i].what ? ": " : "",
                   list[i].what ? list[i].what : "");
        print_advice(list[i].say, i ? list[i - 1].say : NULL, terminal, out);
    }
    advice_snippet(list, r->tally->largest_count, "    ", &snippet);
    if (snippet.len)
        buf_printf(out, "  for \"volumes\" of the policy:\n%s", snippet.data);
    return buf_check(&snippet, err);
}

int copyups_print(const struct copyups_report *report, bool colour, size_t terminal,
                  struct buf *out, struct err *err)
{
    print_head(report, colour, out);
    print_sums(report->tally, out);
    print_layers(report, out);
    print_files(report, out);
    if (print_directories(report, terminal, out, err) < 0)
        return -1;
    return buf_check(out, err);
}
