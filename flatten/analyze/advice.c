#include "flatten/analyze/advice.h"

#include "base/human.h"
#include "flatten/analyze/advice_paths.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEP = 60, MOST_PATH = 120, MOST_ADVICE = 12, DEEP_LAYERS = 70 };
static const uint64_t always_said = 50 * 1000 * 1000; /* bytes */

void advice_clear(struct advice_list *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->list[i].text);
    free(a->list);
    *a = (struct advice_list){0};
}

static int advice_add(struct advice_list *out, const char *kind, uint64_t bytes, struct buf *text,
                      struct err *err)
{
    struct advice *list = realloc(out->list, (out->count + 1) * sizeof(*list));

    if (!list) {
        buf_free(text);
        return err_nomem(err);
    }
    out->list = list;
    list[out->count] = (struct advice){kind, bytes, buf_take(text, err)};
    return list[out->count].text ? (out->count++, 0) : -1;
}

/* Appends "layer 3 (pip install torch)", without the prefix that Docker gives every step. */
static void put_layer(const struct advice_facts *f, unsigned layer, struct buf *out)
{
    static const char *const prefixes[] = {"/bin/sh -c #(nop)", "/bin/sh -c", "RUN", "|"};
    const char *step = f->created_by[layer - 1];

    buf_printf(out, "layer %u", layer);
    if (!step)
        return;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(step, prefixes[i], len) == 0)
            step += len + strspn(step + len, " ");
    }
    if (!*step)
        return;
    buf_puts(out, " (");
    human_put_short(out, step, MOST_STEP);
    buf_putc(out, ')');
}

static void put_path(const struct advice_facts *f, uint32_t node, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_putc(out, '/');
    human_put_short(out, layer_stack_path(f->stack, node, &path), MOST_PATH);
}

/* ---- bytes that another layer hid ---- */

static void put_kill(const struct advice_facts *f, const struct dead_kill *k, struct buf *out)
{
    static const char *const does[DEAD_CAUSES] = {
        "writes again", "changes only owner, mode or times of", "deletes", "deletes", "replaces"};
    static const char *const help[DEAD_CAUSES] = {
        ". Make it one RUN, or build it in a stage of its own and COPY the result.",
        ". Use COPY --chown and --chmod, or do it in the RUN that makes the files.",
        ". Delete in the RUN that makes them, or keep them out of the image with RUN "
        "--mount=type=cache.",
        ". Delete in the RUN that makes them, or keep them out of the image with RUN "
        "--mount=type=cache.",
        ". Make it one RUN."};
    char size[HUMAN_SIZE];

    put_layer(f, k->by, out);
    out->data[0] = 'L';
    buf_printf(out, " %s %s %s ", does[k->cause], human_size(k->bytes, size),
               k->files == 1 ? "at" : "below");
    put_path(f, k->node, out);
    buf_puts(out, " that ");
    put_layer(f, k->layer, out);
    buf_puts(out, " has");
    buf_puts(out, help[k->cause]);
}

static bool worth_saying(const struct advice_facts *f, uint64_t bytes)
{
    return bytes >= always_said || bytes >= f->dead->payload / 100;
}

static int advise_kills(const struct advice_facts *f, struct advice_list *out, struct err *err)
{
    static const char *const kinds[DEAD_CAUSES] = {"rebuild", "touch", "delete", "delete",
                                                   "replace"};

    for (size_t i = 0; i < f->dead->kill_count && out->count < MOST_ADVICE; i++) {
        const struct dead_kill *k = &f->dead->kills[i];
        struct buf text = BUF_INIT;
        if (k->bytes == 0 || !worth_saying(f, k->bytes))
            break; /* the largest come first */
        put_kill(f, k, &text);
        if (advice_add(out, kinds[k->cause], k->bytes, &text, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- files that need not be in an image ---- */

static int advise_paths(const struct advice_facts *f, struct advice_list *out, struct err *err)
{
    struct advice_path paths[ADVICE_PATHS];
    int count = advice_paths(f->stack, paths, err);

    for (int i = 0; i < count; i++) {
        struct buf text = BUF_INIT;
        char size[HUMAN_SIZE];
        if (!worth_saying(f, paths[i].bytes))
            continue;
        put_path(f, paths[i].node, &text);
        buf_printf(&text, " has %s of %s", human_size(paths[i].bytes, size), paths[i].what);
        buf_puts(&text, paths[i].cache ? ". Clean it in the RUN that fills it, or use RUN "
                                         "--mount=type=cache."
                                       : ". Mount it instead (docker run -v, or a volume of "
                                         "flatbed-runtime): it is pulled with every version of "
                                         "the image, and the first change of a file copies it.");
        if (advice_add(out, paths[i].cache ? "cache" : "mount", paths[i].bytes, &text, err) < 0)
            return -1;
    }
    return count < 0 ? -1 : 0;
}

/* ---- the whole image ---- */

/* Returns the bytes that squashing all layers above the `kept` oldest would drop. */
static uint64_t saved_above(const struct advice_facts *f, unsigned kept)
{
    uint64_t bytes = 0;

    for (unsigned i = kept; i < f->dead->layer_count; i++)
        bytes += f->dead->layers[i].payload - f->dead->layers[i].live;
    return bytes;
}

/* Returns how many layers can be kept if squashing the others drops nine tenths of the dead bytes.
 */
static unsigned base_to_keep(const struct advice_facts *f, uint64_t all)
{
    unsigned kept = f->dead->layer_count - 1;

    while (kept > 0 && (double)saved_above(f, kept) < 0.9 * (double)all)
        kept--;
    return kept;
}

static int advise_flatten(const struct advice_facts *f, struct advice_list *out, struct err *err)
{
    uint64_t all = saved_above(f, 0), saved;
    unsigned kept = base_to_keep(f, all);
    struct buf text = BUF_INIT;
    struct lookup_report then;
    char size[HUMAN_SIZE], most[HUMAN_SIZE];

    if (f->dead->layer_count < 2 || all == 0 || !worth_saying(f, all))
        return 0;
    saved = saved_above(f, kept);
    if (lookups_count(f->stack, kept, &then, err) < 0)
        return -1;
    buf_printf(&text, "flatten would drop %s (%.1f %%)", human_size(all, most),
               human_share(all, f->dead->payload));
    if (kept)
        buf_printf(&text,
                   "; flatten --keep-base=%u drops %s of them, keeps the %u oldest layer%s for "
                   "other images, and takes %.2f probes a path instead of %.2f",
                   kept, human_size(saved, size), kept, human_s(kept), then.existing.mean,
                   f->lookups->existing.mean);
    buf_putc(&text, '.');
    lookup_report_clear(&then);
    return advice_add(out, "flatten", all, &text, err);
}

static void put_seconds(const struct carve_pull *p, struct buf *out)
{
    buf_printf(out, "%.1f, %.1f and %.1f s", p->seconds[0], p->seconds[1], p->seconds[2]);
}

static int advise_carve(const struct advice_facts *f, struct advice_list *out, struct err *err)
{
    const struct carve_estimate *c = f->carving;
    struct buf text = BUF_INIT;
    _cleanup_buf_ struct buf word = BUF_INIT;
    char now[HUMAN_SIZE], then[HUMAN_SIZE];

    if (!c->pays)
        return 0;
    human_put_word(&word, f->source);
    buf_printf(&text, "The largest layer has %s, and a pull takes about ",
               human_size(c->source.largest, now));
    put_seconds(&c->source, &text);
    buf_printf(&text,
               " with %u, %u and %u streams. Of the %zu layers that flatten carve makes of the "
               "packages the largest has %s, and a pull takes ",
               carve_streams[0], carve_streams[1], carve_streams[2], c->layers,
               human_size(c->carved.largest, then));
    put_seconds(&c->carved, &text);
    buf_printf(&text, " (a model%s; %.2f probes a path instead of %.2f): flatten carve ",
               c->estimated ? ", of estimated sizes" : "", c->probes, f->lookups->existing.mean);
    if (word.len)
        buf_put_printable(&text, word.data, word.len);
    buf_puts(&text, " DESTINATION, and --dry-run shows the layers.");
    return advice_add(out, "carve", c->source.largest, &text, err);
}

static int advise_depth(const struct advice_facts *f, struct advice_list *out, struct err *err)
{
    const struct lookup_report *l = f->lookups;
    struct buf text = BUF_INIT;

    if (f->dead->layer_count < 2)
        return 0;
    buf_printf(&text, "%u layers, %.2f probes for a path that exists, %.2f for one that does not: ",
               f->dead->layer_count, l->existing.mean, l->missing.mean);
    if (l->existing.mean < 2 && f->dead->layer_count <= DEEP_LAYERS)
        buf_puts(&text, "depth alone is not worth flattening for.");
    else
        buf_printf(&text,
                   "cold metadata takes %.1f times as long as in one layer (missing names %.1f, "
                   "readdir %.1f). flatten makes it one.",
                   lookup_ratio(f->costs, LOOKUP_STAT, LOOKUP_DISK, l->existing.mean),
                   lookup_ratio(f->costs, LOOKUP_MISSING, LOOKUP_DISK, l->missing.mean),
                   lookup_ratio(f->costs, LOOKUP_READDIR, LOOKUP_DISK, l->depth.mean));
    return advice_add(out, "depth", 0, &text, err);
}

int advice_make(const struct advice_facts *f, struct advice_list *out, struct err *err)
{
    *out = (struct advice_list){0};
    if (advise_kills(f, out, err) < 0 || advise_paths(f, out, err) < 0 ||
        advise_flatten(f, out, err) < 0 || advise_carve(f, out, err) < 0)
        return -1;
    return advise_depth(f, out, err);
}

/* ---- contents ---- */

static int advise_compiled(const struct advice_facts *f, const struct stale_report *stale,
                           struct advice_list *out, struct err *err)
{
    struct buf text = BUF_INIT;
    char size[HUMAN_SIZE];

    if (stale->stale == 0)
        return 0;
    buf_printf(&text,
               "%" PRIu64 " .pyc file%s (%s with those that have no source) %s source, such as ",
               stale->stale, human_s(stale->stale), human_size(stale->bytes, size),
               stale->stale == 1 ? "does not match its" : "do not match their");
    put_path(f, stale->worst[0], &text);
    buf_puts(&text, ": Python compiles them again in every container. Run python -m compileall "
                    "after the sources' last change, and keep their times.");
    return advice_add(out, "pyc", stale->bytes, &text, err);
}

int advice_add_contents(const struct advice_facts *f, const struct duplicate_report *d,
                        const struct stale_report *stale, struct advice_list *out, struct err *err)
{
    struct buf text = BUF_INIT;
    char size[HUMAN_SIZE];

    if (advise_compiled(f, stale, out, err) < 0)
        return -1;
    if (d->worst_count == 0 || !worth_saying(f, d->bytes))
        return 0;
    buf_printf(&text, "%s are copies of other files, such as ", human_size(d->bytes, size));
    put_path(f, d->worst[0].nodes[0], &text);
    buf_puts(&text, " and ");
    put_path(f, d->worst[0].nodes[1], &text);
    buf_puts(&text, ". Keep one, or make them hard links in the RUN that makes them.");
    return advice_add(out, "duplicate", d->bytes, &text, err);
}
