#include "flatten/analyze/lookups/lookups_internal.h"

#include <string.h>

/*
 * sys.path is guessed from the image: each lib/pythonX.Y that has an os.py, its lib-dynload, then
 * every site-packages and dist-packages, in the order of site.py.
 */
struct importing {
    const struct layer_stack *s;
    const uint16_t *floors;
    unsigned kept;
    struct lookup_import *out;
    struct buf path;
};

static const struct stack_record *visible_child(const struct importing *i, uint32_t dir,
                                                const char *name)
{
    uint32_t child = tree_find(i->s->tree, dir, name, strlen(name));

    return child == TREE_NONE ? NULL : layer_stack_visible(i->s, i->floors, child);
}

static const char *import_path(struct importing *i, uint32_t node)
{
    return layer_stack_path(i->s, node, &i->path);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);

    return len >= tail && strcmp(text + len - tail, end) == 0;
}

/* True for "usr/lib/python3.11" with an os.py. */
static bool is_library(struct importing *i, uint32_t node)
{
    const char *path = import_path(i, node), *slash = strrchr(path, '/');

    if (!slash || strncmp(slash, "/python", 7) != 0 || strspn(slash + 7, "0123456789.") == 0)
        return false;
    size_t head = (size_t)(slash - path);
    if (head < 3 || strncmp(slash - 3, "lib", 3) != 0)
        return false;
    return visible_child(i, node, "os.py") != NULL;
}

static void add_site(struct importing *i, uint32_t node)
{
    struct lookup_import *out = i->out;

    if (out->site_count == LOOKUP_SITES)
        return;
    unsigned layers = lookups_layers(i->s, node, i->floors[node], i->kept);
    out->sites[out->site_count++] = (struct lookup_site){.node = node, .layers = (uint16_t)layers};
}

static bool is_visible_dir(const struct importing *i, uint32_t node)
{
    const struct stack_record *r = layer_stack_visible(i->s, i->floors, node);

    return r && r->kind == MODEL_DIR;
}

static int find_sites(struct importing *i, struct err *err)
{
    for (uint32_t node = 1; node < i->s->nodes; node++) {
        if (!is_visible_dir(i, node) || !is_library(i, node))
            continue;
        const struct stack_record *dynload = visible_child(i, node, "lib-dynload");
        add_site(i, node);
        if (dynload && dynload->kind == MODEL_DIR)
            add_site(i, dynload->node);
    }
    for (uint32_t node = 1; node < i->s->nodes; node++) {
        if (!is_visible_dir(i, node))
            continue;
        const char *path = import_path(i, node);
        if (ends_with(path, "/site-packages") || ends_with(path, "/dist-packages"))
            add_site(i, node);
    }
    return buf_check(&i->path, err);
}

static void count_found(struct importing *i, const struct stack_record *r)
{
    if (!r)
        return;
    i->out->found++;
    i->out->found_probes += lookups_probes(i->s, i->floors, r, i->kept);
}

/* Python looks a module up in each site before its own, in vain. */
static void count_absent(struct importing *i, size_t site)
{
    for (size_t before = 0; before < site; before++) {
        i->out->absent++;
        i->out->absent_probes += i->out->sites[before].layers;
    }
}

/* Counts a child of a site, if it is a package or a .py file. */
static void count_module(struct importing *i, size_t site, const struct stack_record *r)
{
    const struct stack_record *start =
        r->kind == MODEL_DIR ? visible_child(i, r->node, "__init__.py") : NULL;
    const struct stack_record *cache = start ? visible_child(i, r->node, "__pycache__") : NULL;

    if (r->kind == MODEL_DIR ? !start : !ends_with(import_path(i, r->node), ".py"))
        return;
    i->out->modules++;
    i->out->sites[site].modules++;
    count_absent(i, site);
    count_found(i, r);
    count_found(i, start);
    count_found(i, cache);
}

int lookups_import(const struct layer_stack *s, const uint16_t *floors, unsigned kept,
                   struct lookup_import *out, struct err *err)
{
    struct importing i = {.s = s, .floors = floors, .kept = kept, .out = out};
    int rc = find_sites(&i, err);

    for (uint32_t node = 1; rc == 0 && out->site_count && node < s->nodes; node++) {
        const struct stack_record *r = layer_stack_visible(s, floors, node);
        uint32_t parent = tree_parent(s->tree, node);
        for (size_t site = 0; r && site < out->site_count; site++)
            if (out->sites[site].node == parent)
                count_module(&i, site, r);
    }
    buf_free(&i.path);
    return rc;
}
