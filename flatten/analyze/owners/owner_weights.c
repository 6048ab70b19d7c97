#include "flatten/analyze/owners/owner_weights.h"

#include "flatten/analyze/owners/owner_view.h"

#include <string.h>

enum { DIR_DEPTH = 2 };
#define NO_OWNER UINT32_MAX

void owner_report_clear(struct owner_report *r)
{
    free(r->list);
    free(r->layers);
    owners_clear(&r->now);
    owners_clear(&r->ever);
    *r = (struct owner_report){0};
}

bool owner_in_layer(const struct owner_weight *w, unsigned layer)
{
    return w->layers[(layer - 1) / 8] >> (layer - 1) % 8 & 1;
}

const char *owner_kind_key(const struct owner_weight *w)
{
    static const char *const keys[] = {
        [OWNER_UNOWNED] = "state", [OWNER_RPM] = "rpm", [OWNER_APK] = "apk",
        [OWNER_DPKG] = "dpkg",     [OWNER_NPM] = "npm", [OWNER_PIP] = "pip",
        [OWNER_CONDA] = "conda"};

    return w->dir != TREE_NONE ? "directory" : keys[w->kind];
}

/* An analysis on its way: `list` of the report has the owners first, then directories. */
struct weighing {
    const struct owner_input *in;
    struct owner_view view;
    struct owner_report *out;
    uint32_t *by_file; /* by inode: index into owners.now if the file shows, else of owners.ever */
    uint32_t *index;   /* by index into owners.ever: index into `list` */
    uint32_t *dirs;    /* by node: the directory that its files count to */
    uint32_t *by_dir;  /* by node: index into `list`, or 0 */
    size_t first_dir;  /* index into `list`: of the root */
};

static void weighing_clear(struct weighing *w)
{
    owner_view_clear(&w->view);
    free(w->by_file);
    free(w->index);
    free(w->dirs);
    free(w->by_dir);
}

/* ---- owners of files ---- */

static bool has_hidden(const struct layer_stack *s)
{
    for (size_t i = 0; i < s->file_count; i++)
        if (s->files[i].layer && s->files[i].killer)
            return true;
    return false;
}

static int find_owners(struct weighing *w, struct err *err)
{
    struct owner_report *out = w->out;
    struct owner_source source = owner_view_source(&w->view);

    if (owners_find(&source, &out->now, err) < 0)
        return -1;
    out->rpm_unread = out->now.rpm_unread;
    out->cut = out->now.cut + kept_files_cut(w->in->databases);
    w->view.hidden = true;
    return has_hidden(w->in->stack) ? owners_find(&source, &out->ever, err) : 0;
}

/* A name gives the file to its owner, unless a name before it has a stronger one. */
static void add_name(struct weighing *w, const struct owners *o, uint32_t inode, uint32_t node)
{
    uint32_t *owner = &w->by_file[inode], named = o->by_node[node];

    *owner = *owner == NO_OWNER ? named : owners_stronger(o, *owner, named);
}

static int own_files(struct weighing *w, struct err *err)
{
    const struct layer_stack *s = w->in->stack;

    w->by_file = malloc((s->file_count + 1) * sizeof(*w->by_file));
    if (!w->by_file)
        return err_nomem(err);
    memset(w->by_file, 0xff, (s->file_count + 1) * sizeof(*w->by_file));
    for (uint32_t at = 0; at < s->count; at++) {
        const struct stack_record *r = &s->records[at];
        const struct stack_file *file = stack_record_file(s, r);
        if (!file)
            continue;
        if (file->killer)
            add_name(w, &w->out->ever, r->inode, r->node);
        else if (w->view.shows[r->node] && w->view.records[r->node] == at)
            add_name(w, &w->out->now, r->inode, r->node);
    }
    for (size_t i = 0; i < s->file_count; i++)
        if (s->files[i].layer && w->by_file[i] == NO_OWNER) /* replaced in its own layer */
            w->by_file[i] = w->out->ever.by_node[s->files[i].node];
    return 0;
}

/* ---- the list ---- */

static int compare_owners(const struct owner *a, const struct owner *b)
{
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
                              : strcmp(a->name, b->name);
}

static uint32_t add_owner(struct owner_report *r, const struct owner *o)
{
    r->list[r->count] = (struct owner_weight){
        .kind = o->kind, .dir = TREE_NONE, .name = o->name, .version = o->version};
    return (uint32_t)r->count++;
}

/* Both lists are sorted. An owner in both has the version of the files that show. */
static void merge_owners(struct weighing *w)
{
    const struct owners *now = &w->out->now, *ever = &w->out->ever;
    size_t at = 0;

    for (size_t i = 0; i < now->count; i++)
        add_owner(w->out, &now->list[i]);
    for (size_t i = 0; i < ever->count; i++) {
        while (at < now->count && compare_owners(&now->list[at], &ever->list[i]) < 0)
            at++;
        bool both = at < now->count && compare_owners(&now->list[at], &ever->list[i]) == 0;
        w->index[i] = both ? (uint32_t)at : add_owner(w->out, &ever->list[i]);
    }
}

static int list_owners(struct weighing *w, struct err *err)
{
    struct owner_report *r = w->out;
    size_t most = r->now.count + r->ever.count + OWNER_MOST_DIRS;
    size_t row = (w->in->stack->layers + 7) / 8;

    r->list = calloc(most, sizeof(*r->list));
    r->layers = calloc(most, row ? row : 1);
    w->index = calloc(r->ever.count + 1, sizeof(*w->index));
    if (!r->list || !r->layers || !w->index)
        return err_nomem(err);
    merge_owners(w);
    w->first_dir = r->count;
    for (size_t i = 0; i < most; i++)
        r->list[i].layers = r->layers + i * row;
    return 0;
}

/* ---- directories ---- */

/* Parents come first. The depth of a node is counted up to the one where directories end. */
static int find_dirs(struct weighing *w, struct err *err)
{
    const struct tree *tree = w->in->stack->tree;
    uint32_t count = tree_count(tree);
    _cleanup_free_ uint8_t *depth = calloc(count, sizeof(*depth));

    w->dirs = calloc(count, sizeof(*w->dirs));
    w->by_dir = calloc(count, sizeof(*w->by_dir));
    if (!depth || !w->dirs || !w->by_dir)
        return err_nomem(err);
    for (uint32_t node = 1; node < count; node++) {
        uint32_t parent = tree_parent(tree, node);
        depth[node] = (uint8_t)(depth[parent] + (depth[parent] <= DIR_DEPTH));
        w->dirs[node] = depth[node] <= DIR_DEPTH ? node : w->dirs[parent];
    }
    return 0;
}

static struct owner_weight *dir_weight(struct weighing *w, uint32_t node)
{
    struct owner_report *r = w->out;
    uint32_t dir = w->dirs[tree_parent(w->in->stack->tree, node)];

    if (w->by_dir[dir] == 0 && r->count >= w->first_dir + OWNER_MOST_DIRS - 1)
        dir = TREE_ROOT; /* the last place is for it */
    if (w->by_dir[dir] == 0) {
        w->by_dir[dir] = (uint32_t)r->count;
        r->list[r->count].dir = dir;
        r->count++;
    }
    return &r->list[w->by_dir[dir]];
}

/* ---- weights ---- */

static struct owner_weight *weight_of(struct weighing *w, size_t inode)
{
    const struct stack_file *f = &w->in->stack->files[inode];
    uint32_t owner = w->by_file[inode];

    if (owner == OWNERS_NOBODY)
        return dir_weight(w, f->node);
    return &w->out->list[f->killer ? w->index[owner] : owner];
}

static void weigh_files(struct weighing *w)
{
    const struct layer_stack *s = w->in->stack;

    for (size_t i = 0; i < s->file_count; i++) {
        const struct stack_file *f = &s->files[i];
        if (!f->layer)
            continue;
        struct owner_weight *weight = weight_of(w, i);
        *(f->killer ? &weight->dead_files : &weight->files) += 1;
        *(f->killer ? &weight->dead : &weight->live) += f->size;
        w->out->layers[(size_t)(weight->layers - w->out->layers) + (f->layer - 1U) / 8] |=
            (uint8_t)(1U << (f->layer - 1U) % 8);
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct owner_weight *x = a, *y = b;
    uint64_t left = x->live + x->dead, right = y->live + y->dead;

    if (left != right)
        return left < right ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->dir != y->dir)
        return x->dir < y->dir ? -1 : 1;
    return x->name ? strcmp(x->name, y->name) : 0;
}

static void sort_list(struct owner_report *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->count; i++)
        if (r->list[i].files || r->list[i].dead_files)
            r->list[kept++] = r->list[i];
    r->count = kept;
    if (kept)
        qsort(r->list, kept, sizeof(*r->list), by_bytes);
}

int owner_weights_find(const struct owner_input *in, struct owner_report *out, struct err *err)
{
    _cleanup_(weighing_clear) struct weighing w = {.in = in, .out = out};

    *out = (struct owner_report){0};
    if (owner_view_init(&w.view, in, err) < 0 || find_owners(&w, err) < 0 ||
        own_files(&w, err) < 0 || list_owners(&w, err) < 0 || find_dirs(&w, err) < 0)
        return -1;
    weigh_files(&w);
    sort_list(out);
    free(steal_ptr(&out->ever.by_node));
    return 0;
}
