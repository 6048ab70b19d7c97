#include "flatten/analyze/bytes/dead.h"

#include "base/ranking.h"
#include "flatten/analyze/bytes/dead_dive.h"

void dead_report_clear(struct dead_report *r)
{
    free(r->layers);
    free(r->kills);
    *r = (struct dead_report){0};
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- layers ---- */

static void sum_layers(const struct layer_stack *s, struct dead_report *out)
{
    for (size_t i = 0; i < s->file_count; i++) {
        const struct stack_file *f = &s->files[i];
        if (!f->layer)
            continue;
        struct dead_layer *layer = &out->layers[f->layer - 1];
        layer->files++;
        layer->payload += f->size;
        out->payload += f->size;
        if (!f->killer) {
            layer->live += f->size;
            out->live += f->size;
            continue;
        }
        layer->dead[f->cause] += f->size;
        out->layers[f->killer - 1].killed[f->cause] += f->size;
        out->causes[f->cause] += f->size;
    }
}

/* ---- bytes by the layers that have and that hid them ---- */

static int by_pair(const void *a, const void *b)
{
    const struct dead_kill *x = a, *y = b;
    int diff = compare_numbers(x->layer, y->layer);

    diff = diff ? diff : compare_numbers(x->by, y->by);
    return diff ? diff : compare_numbers(x->cause, y->cause);
}

static int by_bytes(const void *a, const void *b)
{
    const struct dead_kill *x = a, *y = b;
    int diff = compare_numbers(y->bytes, x->bytes);

    return diff ? diff : by_pair(a, b);
}

static unsigned depth_of(const struct tree *t, uint32_t node)
{
    unsigned depth = 0;

    for (; node != TREE_ROOT; node = tree_parent(t, node))
        depth++;
    return depth;
}

/* Returns the deepest node that both are or lie below. */
static uint32_t common_ancestor(const struct tree *t, uint32_t a, uint32_t b)
{
    unsigned x = depth_of(t, a), y = depth_of(t, b);

    for (; x > y; x--)
        a = tree_parent(t, a);
    for (; y > x; y--)
        b = tree_parent(t, b);
    while (a != b) {
        a = tree_parent(t, a);
        b = tree_parent(t, b);
    }
    return a;
}

/* Joins neighbours with the same layers and cause. Returns how many are left. */
static size_t fold_kills(const struct tree *t, struct dead_kill *list, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept && by_pair(&list[kept - 1], &list[i]) == 0) {
            list[kept - 1].bytes += list[i].bytes;
            list[kept - 1].files += list[i].files;
            list[kept - 1].node = common_ancestor(t, list[kept - 1].node, list[i].node);
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static int sum_kills(const struct layer_stack *s, size_t dead, struct dead_report *out,
                     struct err *err)
{
    size_t count = 0;

    out->kills = calloc(dead + 1, sizeof(*out->kills));
    if (!out->kills)
        return err_nomem(err);
    for (size_t i = 0; i < s->file_count; i++) {
        const struct stack_file *f = &s->files[i];
        if (f->layer && f->killer)
            out->kills[count++] =
                (struct dead_kill){f->size, 1, f->node, f->layer, f->killer, f->cause};
    }
    qsort(out->kills, count, sizeof(*out->kills), by_pair);
    out->kill_count = fold_kills(s->tree, out->kills, count);
    qsort(out->kills, out->kill_count, sizeof(*out->kills), by_bytes);
    return 0;
}

/* ---- the worst paths ---- */

static int by_node(const void *a, const void *b)
{
    const struct stack_file *x = *(const struct stack_file *const *)a;
    const struct stack_file *y = *(const struct stack_file *const *)b;

    return compare_numbers(x->node, y->node);
}

static uint64_t dead_bytes(const void *path)
{
    return ((const struct dead_path *)path)->bytes;
}

static void offer_worst_path(struct dead_report *out, const struct dead_path *path)
{
    if (path->bytes)
        ranking_offer(out->worst, &out->worst_count, DEAD_WORST, sizeof(*path), path, dead_bytes);
}

/* The dead copies of one path. */
static struct dead_path sum_dead_copies(const struct stack_file *const *list, size_t count)
{
    uint64_t bytes[DEAD_CAUSES] = {0};
    struct dead_path path = {.node = list[0]->node, .copies = (uint32_t)count};

    for (size_t i = 0; i < count; i++) {
        path.bytes += list[i]->size;
        bytes[list[i]->cause] += list[i]->size;
        if (list[i]->killer > path.by)
            path.by = list[i]->killer;
    }
    for (int cause = 1; cause < DEAD_CAUSES; cause++)
        if (bytes[cause] > bytes[path.cause])
            path.cause = (uint8_t)cause;
    return path;
}

static int sum_paths(const struct layer_stack *s, size_t dead, struct dead_report *out,
                     struct err *err)
{
    _cleanup_free_ const struct stack_file **list = calloc(dead + 1, sizeof(const void *));
    size_t count = 0;

    if (!list)
        return err_nomem(err);
    for (size_t i = 0; i < s->file_count; i++)
        if (s->files[i].layer && s->files[i].killer)
            list[count++] = &s->files[i];
    qsort(list, count, sizeof(const void *), by_node);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && list[end]->node == list[i]->node; end++)
            ;
        struct dead_path path = sum_dead_copies(list + i, end - i);
        offer_worst_path(out, &path);
    }
    return 0;
}

int dead_sum(const struct layer_stack *s, struct dead_report *out, struct err *err)
{
    size_t dead = 0;

    *out = (struct dead_report){.layer_count = s->layers};
    out->layers = calloc(s->layers + 1, sizeof(*out->layers));
    if (!out->layers)
        return err_nomem(err);
    for (size_t i = 0; i < s->file_count; i++)
        dead += s->files[i].layer && s->files[i].killer;
    sum_layers(s, out);
    if (sum_kills(s, dead, out, err) < 0 || sum_paths(s, dead, out, err) < 0)
        return -1;
    dead_dive(s, out);
    return 0;
}
