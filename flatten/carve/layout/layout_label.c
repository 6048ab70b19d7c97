#include "flatten/carve/layout/layout_label.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

enum { NAMED = 2, NAME_BYTES = 80 };

/* A layer in words. */
struct labelling {
    const struct layout_groups *g;
    uint32_t *order;        /* groups by layer, largest first */
    uint32_t *largest;      /* by group: its largest file */
    uint32_t *least, *most; /* by group: its names with the least and the highest rank */
};

static void labelling_clear(struct labelling *l)
{
    free(l->order);
    free(l->largest);
    free(l->least);
    free(l->most);
}

static const struct owner *owner_of(const struct labelling *l, uint32_t group)
{
    return &l->g->in->owners->list[l->g->list[group].owner];
}

/* ---- names ---- */

/* Packages of NVIDIA's libraries start like this, in Debian, NVIDIA's own repositories and pip. */
static bool is_cuda(const char *name)
{
    static const char *const starts[] = {
        "cuda",      "libcublas", "libcuda",   "libcudnn",  "libcufft", "libcufile", "libcuinj",
        "libcupti",  "libcurand", "libcusolv", "libcuspar", "libnccl",  "libnpp",    "libnvjit",
        "libnvjpeg", "libnvrtc",  "libnvtool", "libnvvm",   "nsight",   "nvidia-c",  "nvidia-n",
    };

    for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Appends the part of a version that people name: "2.36" of "2.36-9+deb12u1", "1.2" of "1:1.2". */
static void put_version(struct buf *out, const char *version)
{
    const char *colon = strchr(version, ':');
    const char *start =
        colon && strspn(version, "0123456789") == (size_t)(colon - version) ? colon + 1 : version;
    size_t len = strcspn(start, "-~");

    buf_put_printable(out, start, len < NAME_BYTES ? len : NAME_BYTES);
}

/* Returns the directory that holds all files of the group, or the file if it is one. */
static uint32_t common_dir(const struct labelling *l, uint32_t group)
{
    const struct layout_order *order = l->g->order;
    uint32_t node = l->least[group];

    while (order->rank[l->most[group]] >= order->end[node])
        node = tree_parent(l->g->in->tree, node);
    return node;
}

/* Returns what of the group's largest file's path is named where its files have no directory. */
static uint32_t main_dir(const struct labelling *l, uint32_t group)
{
    const struct tree *tree = l->g->in->tree;
    uint32_t node = l->g->nodes[l->largest[group]], above = node;

    while (tree_parent(tree, node) != TREE_ROOT) {
        above = node;
        node = tree_parent(tree, node);
    }
    return above;
}

static void put_path(const struct labelling *l, uint32_t node, struct buf *out)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    const char *text = tree_path_in(l->g->in->tree, node, &path);
    size_t len = text ? strlen(text) : 0, cut = len > NAME_BYTES ? len - NAME_BYTES : 0;

    if (!text)
        out->failed = true;
    if (cut)
        buf_puts(out, "...");
    if (text)
        buf_put_printable(out, text + cut, len - cut);
}

static void put_dir(const struct labelling *l, uint32_t group, struct buf *out)
{
    uint32_t dir = common_dir(l, group);

    put_path(l, dir == TREE_ROOT ? main_dir(l, group) : dir, out);
    if (dir == TREE_ROOT && l->g->list[group].files > 1)
        buf_puts(out, " and more");
}

/* A package, its version if it is the only one, and which part of it this is. */
static void put_group(const struct labelling *l, uint32_t group, bool single, struct buf *out)
{
    const struct owner *o = owner_of(l, group);
    const struct layout_groups *g = l->g;
    bool part = g->list[group].dir != TREE_ROOT;
    size_t len = strlen(o->name);

    if (o->kind == OWNER_UNOWNED) {
        put_dir(l, group, out);
        return;
    }
    buf_put_printable(out, o->name, len < NAME_BYTES ? len : NAME_BYTES);
    if (single && o->version) {
        buf_putc(out, ' ');
        put_version(out, o->version);
    }
    if (single && part) {
        buf_puts(out, ": ");
        put_dir(l, group, out);
    }
}

/* ---- CUDA ---- */

/* Copies "11.8" of the name "libcublas-11-8", of Debian's version "11.11.3.6~11.8.0-5", or "12" of
 * the name "nvidia-cublas-cu12". */
static bool cuda_version(const struct owner *o, char out[16])
{
    const char *tilde = o->version ? strchr(o->version, '~') : NULL;
    const char *cu = strstr(o->name, "-cu");
    unsigned major, minor;
    char rest;
    size_t len = strlen(o->name);

    while (len > 0 && (isdigit((unsigned char)o->name[len - 1]) || o->name[len - 1] == '-'))
        len--;
    if (sscanf(o->name + len, "-%2u-%2u%c", &major, &minor, &rest) == 2 ||
        (tilde && sscanf(tilde, "~%2u.%2u.", &major, &minor) == 2)) {
        snprintf(out, 16, "%u.%u", major, minor);
        return true;
    }
    if (cu && sscanf(cu, "-cu%2u%c", &major, &rest) == 1) {
        snprintf(out, 16, "%u", major);
        return true;
    }
    return false;
}

/* Writes "CUDA 11.8 libraries" if more than half of the bytes are CUDA's; the version is that of
 * the largest package that tells it. */
static bool put_cuda(const struct labelling *l, const uint32_t *groups, size_t count,
                     struct buf *out)
{
    uint64_t all = 0, cuda = 0;
    char version[16] = "";

    for (size_t i = 0; i < count; i++) {
        const struct owner *o = owner_of(l, groups[i]);
        bool found = is_cuda(o->name);
        all += l->g->list[groups[i]].bytes;
        cuda += found ? l->g->list[groups[i]].bytes : 0;
        if (found && !version[0])
            (void)cuda_version(o, version);
    }
    if (cuda <= all / 2)
        return false;
    buf_printf(out, "CUDA%s%s libraries", version[0] ? " " : "", version);
    return true;
}

/* ---- layers ---- */

static void put_head(const struct labelling *l, const struct layout_bin *bin,
                     const uint32_t *groups, size_t count, struct buf *out)
{
    static const char *const heads[] = {
        [TIER_SYSTEM] = "base system",      [TIER_TOOLCHAIN] = "toolchain",
        [TIER_FRAMEWORK] = "frameworks",    [TIER_PACKAGE] = "packages",
        [TIER_APPLICATION] = "application", [TIER_STATE] = "state",
    };

    if (bin->minor)
        buf_puts(out, "small files of large packages");
    else if (bin->tier != TIER_TOOLCHAIN || !put_cuda(l, groups, count, out))
        buf_puts(out, heads[bin->tier]);
}

static bool all_state(const struct labelling *l, const uint32_t *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (l->g->list[groups[i]].tier != TIER_STATE)
            return false;
    return true;
}

/* Writes the largest groups: "libcublas11, libcufft10 and 4 more". */
static void put_groups(const struct labelling *l, const uint32_t *groups, size_t count,
                       struct buf *out)
{
    size_t named = count == NAMED + 1 ? count : count < NAMED ? count : NAMED;

    for (size_t i = 0; i < named; i++) {
        if (i > 0)
            buf_puts(out, i + 1 == count ? " and " : ", ");
        put_group(l, groups[i], false, out);
    }
    if (named < count)
        buf_printf(out, " and %zu more", count - named);
}

static void put_layer(const struct labelling *l, const struct layout_bin *bin,
                      const uint32_t *groups, size_t count, bool update, struct buf *out)
{
    bool unowned = count > 0 && owner_of(l, groups[0])->kind == OWNER_UNOWNED;

    if (bin->last && all_state(l, groups, count)) {
        buf_puts(out, "state of package managers, headers of shared directories");
    } else if (count == 1 && !unowned && !bin->minor) {
        put_group(l, groups[0], true, out);
    } else {
        if (update)
            buf_puts(out, "update");
        else if (bin->last)
            buf_puts(out, "all files");
        else
            put_head(l, bin, groups, count, out);
        bool plain = bin->tier == TIER_APPLICATION || bin->tier == TIER_STATE || update;
        buf_puts(out, plain ? ": " : " (");
        put_groups(l, groups, count, out);
        buf_puts(out, plain ? "" : ")");
    }
}

/* ---- all ---- */

static int by_layer_and_bytes(const void *a, const void *b, void *ctx)
{
    const struct layout_group *list = ((const struct layout_groups *)ctx)->list;
    const struct layout_group *left = &list[*(const uint32_t *)a];
    const struct layout_group *right = &list[*(const uint32_t *)b];

    if (left->layer != right->layer)
        return left->layer < right->layer ? -1 : 1;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return left->key < right->key ? -1 : left->key > right->key;
}

static void find_extent(struct labelling *l, uint32_t file)
{
    const struct layout_groups *g = l->g;
    const uint32_t *rank = g->order->rank;
    uint32_t group = g->by_file[file], node = g->nodes[file];

    if (group == LAYOUT_NONE)
        return;
    uint32_t largest = l->largest[group];
    if (largest == LAYOUT_NONE || rank[node] < rank[l->least[group]])
        l->least[group] = node;
    if (largest == LAYOUT_NONE || rank[node] > rank[l->most[group]])
        l->most[group] = node;
    if (largest == LAYOUT_NONE || g->in->files[file].bytes > g->in->files[largest].bytes ||
        (g->in->files[file].bytes == g->in->files[largest].bytes &&
         rank[node] < rank[g->nodes[largest]]))
        l->largest[group] = file;
}

static int labelling_init(struct labelling *l, const struct layout_groups *g, struct err *err)
{
    l->g = g;
    l->order = calloc(g->count + 1, sizeof(*l->order));
    l->largest = calloc(g->count + 1, sizeof(*l->largest));
    l->least = calloc(g->count + 1, sizeof(*l->least));
    l->most = calloc(g->count + 1, sizeof(*l->most));
    if (!l->order || !l->largest || !l->least || !l->most)
        return err_nomem(err);
    for (uint32_t i = 0; i < g->count; i++) {
        l->order[i] = i;
        l->largest[i] = LAYOUT_NONE;
    }
    return 0;
}

int layout_label(struct layout_groups *g, const struct layout_bins *bins, bool update,
                 struct layout_layer *layers, struct err *err)
{
    _cleanup_(labelling_clear) struct labelling l = {0};
    size_t next = 0;

    if (labelling_init(&l, g, err) < 0)
        return -1;
    qsort_r(l.order, g->count, sizeof(*l.order), by_layer_and_bytes, g);
    for (size_t i = 0; i < g->in->file_count; i++)
        find_extent(&l, (uint32_t)i);
    for (size_t layer = 0; layer < bins->count; layer++) {
        struct buf text = BUF_INIT;
        size_t first = next;
        while (next < g->count && g->list[l.order[next]].layer == layer)
            next++;
        put_layer(&l, &bins->list[layer], l.order + first, next - first, update, &text);
        layers[layer].label = buf_take(&text, err);
        if (!layers[layer].label)
            return -1;
    }
    return 0;
}
