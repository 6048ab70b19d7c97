#include "flatten/analyze/analysis.h"

#include "base/human.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_OWNERS = 20, MOST_RANGES = 3, MOST_NAME = 200 };

/* Returns the last layer of the run of layers that begins at `first`. */
static unsigned end_of_run(const struct analysis *a, const struct owner_weight *w, unsigned first)
{
    while (first < a->stack.layers && owner_in_layer(w, first + 1))
        first++;
    return first;
}

/* Appends "1, 4-6", and "…" for more than a few runs. */
static void put_layers(const struct analysis *a, const struct owner_weight *w, struct buf *out)
{
    unsigned runs = 0;

    for (unsigned first = 1; first <= a->stack.layers; first++) {
        if (!owner_in_layer(w, first))
            continue;
        unsigned last = end_of_run(a, w, first);
        if (++runs > MOST_RANGES) {
            buf_puts(out, ", …");
            return;
        }
        buf_printf(out, runs > 1 ? ", %u" : "%u", first);
        if (last > first)
            buf_printf(out, "-%u", last);
        first = last;
    }
}

static void put_name(const struct analysis *a, const struct owner_weight *w, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_printf(out, "%-9s  ", owner_kind_key(w));
    if (w->dir != TREE_NONE) {
        buf_putc(out, '/');
        human_put_short(out, layer_stack_path(&a->stack, w->dir, &path), MOST_NAME);
        return;
    }
    if (w->kind == OWNER_UNOWNED) {
        buf_puts(out, "databases, caches and logs");
        return;
    }
    human_put_short(out, w->name, MOST_NAME);
    if (w->version) {
        buf_putc(out, ' ');
        human_put_short(out, w->version, MOST_NAME);
    }
}

static void put_sizes(const struct owner_weight *w, struct buf *out)
{
    char live[HUMAN_SIZE], dead[HUMAN_SIZE];

    buf_printf(out, "  %9s %9s %8" PRIu64 "  ", human_size(w->live, live),
               human_size(w->dead, dead), w->files);
}

/* Appends a row for all owners from `first` on. */
static void put_others(const struct owner_report *r, size_t first, struct buf *out)
{
    struct owner_weight sum = {0};

    if (first >= r->count)
        return;
    for (size_t i = first; i < r->count; i++) {
        sum.live += r->list[i].live;
        sum.dead += r->list[i].dead;
        sum.files += r->list[i].files;
    }
    put_sizes(&sum, out);
    buf_printf(out, "%zu more (--json has all)\n", r->count - first);
}

void analysis_put_owners_text(const struct analysis *a, struct buf *out)
{
    const struct owner_report *r = &a->owners;

    if (r->count == 0)
        return;
    buf_puts(out, "\nOwners: packages, and directories of files without one\n"
                  "       live      dead    files  owner, and its layers\n");
    for (size_t i = 0; i < r->count && i < MOST_OWNERS; i++) {
        put_sizes(&r->list[i], out);
        put_name(a, &r->list[i], out);
        buf_puts(out, "  (");
        put_layers(a, &r->list[i], out);
        buf_puts(out, ")\n");
    }
    put_others(r, MOST_OWNERS, out);
    if (r->rpm_unread)
        buf_puts(out, "  The rpm database is in a form that is not read: the files of its packages "
                      "are listed by directory.\n");
    if (r->cut)
        buf_puts(out, "  Some databases of packages are too large: the files of their packages are "
                      "listed by directory.\n");
}

/* ---- JSON ---- */

static void put_string(const char *key, const char *text, struct buf *out)
{
    buf_printf(out, ",\"%s\":", key);
    if (text)
        json_quote(out, text, strlen(text));
    else
        buf_puts(out, "null");
}

static void put_owner(const struct analysis *a, const struct owner_weight *w, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    const char *comma = "";

    buf_printf(out, "{\"kind\":\"%s\"", owner_kind_key(w));
    put_string("name", w->name ? w->name : layer_stack_path(&a->stack, w->dir, &path), out);
    put_string("version", w->version, out);
    buf_printf(out,
               ",\"files\":%" PRIu64 ",\"live\":%" PRIu64 ",\"dead_files\":%" PRIu64
               ",\"dead\":%" PRIu64 ",\"layers\":[",
               w->files, w->live, w->dead_files, w->dead);
    for (unsigned layer = 1; layer <= a->stack.layers; layer++) {
        if (!owner_in_layer(w, layer))
            continue;
        buf_printf(out, "%s%u", comma, layer);
        comma = ",";
    }
    buf_puts(out, "]}");
}

void analysis_put_owners_json(const struct analysis *a, struct buf *out)
{
    const struct owner_report *r = &a->owners;

    buf_puts(out, ",\"owners\":[");
    for (size_t i = 0; i < r->count; i++) {
        buf_puts(out, i ? "," : "");
        put_owner(a, &r->list[i], out);
    }
    buf_printf(out, "],\"owners_unread\":{\"rpm\":%s,\"cut\":%zu}",
               r->rpm_unread ? "true" : "false", r->cut);
}
