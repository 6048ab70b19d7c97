#include "shim/admin/watch/report.h"

#include "base/human.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_SHOWN = 100, PATH_SHOWN = 400, PATH_LEAST = 20, COLUMNS_BEFORE = 56 };

struct watch_depth watch_depth(const struct watch_report *r)
{
    struct watch_depth d = {0};

    for (size_t i = 0; i < r->directory_count; i++) {
        const struct seen_entry *e = r->directories[i];
        const struct seen_counts *c = &e->counts;
        if (e->layers == 0)
            continue;
        double more = e->layers - 1;
        d.lookups += c->lookups;
        d.probes += c->lookups * e->layers;
        d.saved += (double)c->misses * r->costs->seconds[1] * r->costs->more[1] * more;
        d.saved +=
            (double)(c->lookups - c->misses) * r->costs->seconds[0] * r->costs->more[0] * more;
    }
    return d;
}

static void put_counts(const struct seen_counts *c, struct buf *out)
{
    buf_printf(out, "%9" PRIu64 " %9" PRIu64 " %4.0f%% %8" PRIu64, c->lookups, c->misses,
               human_share(c->misses, c->lookups), c->calls[WATCH_OPEN]);
}

static void put_directories(const struct watch_report *r, size_t width, struct buf *out)
{
    size_t room = width > COLUMNS_BEFORE + PATH_LEAST ? width - COLUMNS_BEFORE : PATH_SHOWN;

    buf_puts(out, "\n  lookups    misses share    opens  layers     probes  directory\n");
    for (size_t i = 0; i < r->directory_count; i++) {
        const struct seen_entry *e = r->directories[i];
        put_counts(&e->counts, out);
        if (e->layers)
            buf_printf(out, "  %6u %10" PRIu64 "  ", e->layers, e->counts.lookups * e->layers);
        else
            buf_printf(out, "  %6s %10s  ", "-", "-");
        human_put_short(out, e->name, width ? room : PATH_SHOWN);
        buf_putc(out, '\n');
    }
}

static void put_programs(const struct watch_report *r, struct buf *out)
{
    buf_puts(out, "\n  lookups    misses share    opens  program\n");
    for (size_t i = 0; i < r->program_count; i++) {
        put_counts(&r->programs[i]->counts, out);
        buf_puts(out, "  ");
        human_put_short(out, r->programs[i]->name, NAME_SHOWN);
        buf_putc(out, '\n');
    }
}

static void put_depth(const struct watch_report *r, struct buf *out)
{
    struct watch_depth d = watch_depth(r);

    if (d.probes <= d.lookups)
        return;
    buf_printf(out,
               "\nDepth: the %" PRIu64 " lookups in directories of the image take up to %" PRIu64
               " probes of layers,\n"
               "%" PRIu64 " with one layer: flatten squash, flatten carve and flatbed restack make "
               "fewer.\n",
               d.lookups, d.probes, d.lookups);
    if (r->costs->known)
        buf_printf(out,
                   "That would save up to %.3g s while no cache knows the names (flatbed bench).\n",
                   d.saved);
}

static void put_notes(const struct watch_report *r, struct buf *out)
{
    const struct watch *w = r->watch;

    if (w->why[0]) {
        buf_puts(out, "Misses and stats are not seen: ");
        buf_put_printable(out, w->why, strlen(w->why));
        buf_putc(out, '\n');
    }
    if (w->lost)
        buf_printf(out, "%" PRIu64 " call%s %s lost: they came too fast\n", w->lost,
                   human_s(w->lost), w->lost == 1 ? "was" : "were");
    if (w->cut)
        buf_printf(out, "%" PRIu64 " name%s longer than %d bytes: cut there\n", w->cut,
                   w->cut == 1 ? " was" : "s were", WATCH_NAME - 1);
    if (w->seen.directories.other.lookups)
        buf_printf(out, "%" PRIu64 " lookups were in directories beyond the first %d\n",
                   w->seen.directories.other.lookups, SEEN_DIRECTORIES);
    if (w->seen.programs.other.lookups)
        buf_printf(out, "%" PRIu64 " lookups were of programs beyond the first %d\n",
                   w->seen.programs.other.lookups, SEEN_PROGRAMS);
}

void watch_print(const struct watch_report *r, size_t width, struct buf *out)
{
    const struct seen_counts *all = &r->watch->seen.all;

    buf_printf(out, "%s ", container_engine_names[r->container->engine]);
    human_put_short(out, r->container->name, NAME_SHOWN);
    buf_printf(out, ", %.1f s", r->seconds);
    if (r->layers)
        buf_printf(out, ", %zu layers", r->layers);
    buf_printf(out, "\n%" PRIu64 " lookups", all->lookups);
    for (int i = 0; i < WATCH_CALLS; i++)
        buf_printf(out, "%s%" PRIu64 " %s", i ? ", " : ": ", all->calls[i], watch_call_names[i]);
    buf_printf(out, "; %" PRIu64 " misses (%.0f%%)\n", all->misses,
               human_share(all->misses, all->lookups));
    put_notes(r, out);
    if (r->directory_count)
        put_directories(r, width, out);
    if (r->program_count)
        put_programs(r, out);
    put_depth(r, out);
}
