#include "flatten/analyze/advice_paths.h"

#include <stdlib.h>
#include <string.h>

/* Large files with these names are data. */
static const uint64_t least_data = 20 * 1000 * 1000; /* bytes */
static const struct {
    const char *ending, *what;
} data_names[] = {
    {".safetensors", "model weights"},
    {".pt", "model weights"},
    {".pth", "model weights"},
    {".ckpt", "model weights"},
    {".gguf", "model weights"},
    {".onnx", "model weights"},
    {".h5", "data"},
    {".npy", "data"},
    {".npz", "data"},
    {".parquet", "data"},
    {".arrow", "data"},
    {".tfrecord", "data"},
    {".lmdb", "data"},
    {".zip", "archives"},
    {".tar", "archives"},
    {".tar.gz", "archives"},
};

/* Directories with these paths are caches. */
static const struct {
    const char *ending, *what;
} caches[] = {
    {".cache", "caches"},
    {"var/cache/apt", "apt's cache"},
    {"var/lib/apt/lists", "apt's package lists"},
    {"/conda/pkgs", "conda's package cache"},
    {"/miniconda3/pkgs", "conda's package cache"},
    {".npm", "npm's cache"},
    {"var/cache/dnf", "dnf's cache"},
    {"var/cache/yum", "yum's cache"},
};

/* True if the path is `ending`, or ends with it after a '/'. */
static bool ends_with(const char *path, const char *ending)
{
    size_t len = strlen(path), tail = strlen(ending);

    if (len < tail || strcmp(path + len - tail, ending) != 0)
        return false;
    return ending[0] == '/' || len == tail || path[len - tail - 1] == '/';
}

/* Returns the path's index in caches; -1 if it is none. */
static int cache_of(const char *path)
{
    for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++)
        if (ends_with(path, caches[i].ending))
            return (int)i;
    return -1;
}

static const char *data_of(const char *path)
{
    size_t len = strlen(path);

    for (size_t i = 0; i < sizeof(data_names) / sizeof(*data_names); i++) {
        size_t tail = strlen(data_names[i].ending);
        if (len > tail && strcmp(path + len - tail, data_names[i].ending) == 0)
            return data_names[i].what;
    }
    return NULL;
}

/* The directories found so far. When the list is full, the smallest one is dropped. */
struct finds {
    struct advice_path list[8 * ADVICE_PATHS];
    size_t count;
};

static void finds_add(struct finds *f, const struct advice_path *found)
{
    struct advice_path *least = f->list;

    for (struct advice_path *p = f->list; p < f->list + f->count; p++) {
        if (p->node == found->node && p->what == found->what) {
            p->bytes += found->bytes;
            return;
        }
        least = p->bytes < least->bytes ? p : least;
    }
    if (f->count < sizeof(f->list) / sizeof(*f->list))
        f->list[f->count++] = *found;
    else if (least->bytes < found->bytes)
        *least = *found;
}

/* Returns, by node, the outermost cache directory that it is or lies in, or 0. Parents come first.
 */
static uint32_t *cache_roots(const struct layer_stack *s, struct buf *path, struct err *err)
{
    uint32_t *roots = calloc(s->nodes + 1, sizeof(*roots));

    if (!roots) {
        err_nomem(err);
        return NULL;
    }
    for (uint32_t node = 1; node < s->nodes; node++) {
        roots[node] = roots[tree_parent(s->tree, node)];
        if (!roots[node] && cache_of(layer_stack_path(s, node, path)) >= 0)
            roots[node] = node;
    }
    return roots;
}

static int by_bytes(const void *a, const void *b)
{
    const struct advice_path *x = a, *y = b;

    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

int advice_paths(const struct layer_stack *s, struct advice_path out[ADVICE_PATHS], struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    _cleanup_free_ uint32_t *roots = cache_roots(s, &path, err);
    struct finds finds = {.count = 0};

    if (!roots)
        return -1;
    for (size_t i = 0; i < s->file_count; i++) {
        const struct stack_file *file = &s->files[i];
        struct advice_path found = {.bytes = file->size};
        uint32_t dir = tree_parent(s->tree, file->layer ? file->node : 0);
        if (!file->layer || file->killer || file->size == 0)
            continue;
        if (roots[dir]) {
            found.cache = true;
            found.node = roots[dir];
            found.what = caches[cache_of(layer_stack_path(s, found.node, &path))].what;
        } else if (file->size >= least_data) {
            found.node = dir;
            found.what = data_of(layer_stack_path(s, file->node, &path));
        }
        if (found.what)
            finds_add(&finds, &found);
    }
    if (buf_check(&path, err) < 0)
        return -1;
    qsort(finds.list, finds.count, sizeof(*finds.list), by_bytes);
    int count = finds.count < ADVICE_PATHS ? (int)finds.count : ADVICE_PATHS;
    memcpy(out, finds.list, (size_t)count * sizeof(*out));
    return count;
}
