/* Images for the tests of flatten/carve/layout: files with owners, added path by path. */
#ifndef TESTS_LAYOUT_SAMPLE_H
#define TESTS_LAYOUT_SAMPLE_H

#include "flatten/carve/layout/layout.h"
#include "tests/unit/lib/carve/layout_state.h"
#include "tests/unit/lib/merge/tree_paths.h"

enum { SAMPLE_FILES = 200000, SAMPLE_OWNERS = 2000 };

struct sample {
    struct tree *tree;
    struct layout_file files[SAMPLE_FILES];
    struct layout_name names[100];
    size_t file_count, name_count;
    struct owner owner_list[SAMPLE_OWNERS];
    struct owners owners;
    uint32_t dirs[100]; /* without files */
    size_t dir_count;
    uint8_t *is_dir;
};

static inline void sample_free(struct sample *s)
{
    for (size_t i = 0; i < s->owners.count; i++) {
        free(s->owner_list[i].name);
        free(s->owner_list[i].version);
    }
    cleanup_tree(&s->tree);
    free(s->is_dir);
    free(s);
}

static inline uint32_t sample_owner(struct sample *s, enum owner_kind kind, enum owner_tier tier,
                                    const char *name, const char *version)
{
    assert_true(s->owners.count < SAMPLE_OWNERS);
    s->owner_list[s->owners.count] =
        (struct owner){kind, tier, strdup(name), version ? strdup(version) : NULL};
    return (uint32_t)s->owners.count++;
}

/* Returns a sample with the two owners that are always there. */
static inline struct sample *sample_new(void)
{
    struct err err = ERR_INIT;
    struct sample *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->tree = tree_new(&err);
    assert_non_null(s->tree);
    s->owners.list = s->owner_list;
    sample_owner(s, OWNER_UNOWNED, TIER_APPLICATION, "", NULL);
    sample_owner(s, OWNER_UNOWNED, TIER_STATE, "state", NULL);
    return s;
}

static inline uint32_t sample_add(struct sample *s, uint32_t owner, uint64_t bytes,
                                  const char *path)
{
    assert_true(s->file_count < SAMPLE_FILES);
    s->files[s->file_count] =
        (struct layout_file){.node = tree_at(s->tree, path), .owner = owner, .bytes = bytes};
    return (uint32_t)s->file_count++;
}

static inline uint32_t sample_addf(struct sample *s, uint32_t owner, uint64_t bytes,
                                   const char *format, ...) __attribute__((format(printf, 4, 5)));

static inline uint32_t sample_addf(struct sample *s, uint32_t owner, uint64_t bytes,
                                   const char *format, ...)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    va_list args;

    va_start(args, format);
    buf_vprintf(&path, format, args);
    va_end(args);
    return sample_add(s, owner, bytes, path.data);
}

static inline void sample_link(struct sample *s, uint32_t file, const char *path)
{
    s->names[s->name_count++] = (struct layout_name){tree_at(s->tree, path), file};
}

/* Adds an owner with one file. Returns the owner. */
static inline uint32_t sample_package(struct sample *s, enum owner_tier tier, const char *name,
                                      const char *version, uint64_t bytes, const char *path)
{
    uint32_t owner = sample_owner(s, OWNER_DPKG, tier, name, version);

    sample_add(s, owner, bytes, path);
    return owner;
}

/* Adds a directory that needs no file. Returns its node. */
static inline uint32_t sample_dir(struct sample *s, const char *path)
{
    s->dirs[s->dir_count] = tree_at(s->tree, path);
    return s->dirs[s->dir_count++];
}

static inline void sample_mark_dirs(struct sample *s, uint32_t node)
{
    for (; node != TREE_NONE && !s->is_dir[node]; node = tree_parent(s->tree, node))
        s->is_dir[node] = 1;
}

static inline struct layout_input sample_input(struct sample *s)
{
    free(s->is_dir);
    s->is_dir = calloc(tree_count(s->tree), 1);
    assert_non_null(s->is_dir);
    sample_mark_dirs(s, TREE_ROOT);
    for (size_t i = 0; i < s->file_count; i++)
        sample_mark_dirs(s, tree_parent(s->tree, s->files[i].node));
    for (size_t i = 0; i < s->name_count; i++)
        sample_mark_dirs(s, tree_parent(s->tree, s->names[i].node));
    for (size_t i = 0; i < s->dir_count; i++)
        sample_mark_dirs(s, s->dirs[i]);
    return (struct layout_input){.tree = s->tree,
                                 .files = s->files,
                                 .file_count = s->file_count,
                                 .names = s->names,
                                 .name_count = s->name_count,
                                 .is_dir = s->is_dir,
                                 .owners = &s->owners};
}

static inline struct layout sample_layout(struct sample *s, uint64_t cap, size_t layers)
{
    const struct layout_options options = {.cap = cap, .layers = layers};
    struct layout_input in = sample_input(s);
    struct err err = ERR_INIT;
    struct layout l;

    assert_works(layout_make(&in, &options, &l, &err), err);
    return l;
}

static inline uint64_t sample_hash(const char *text, uint64_t more)
{
    uint64_t h = 0xcbf29ce484222325u ^ more;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    h ^= h >> 29;
    return h * 0xbf58476d1ce4e5b9u;
}

/* Returns a number for each layer, which the caller frees: of its files, whatever their order. */
static inline uint64_t *sample_layers(const struct sample *s, const struct layout *l)
{
    uint64_t *sums = calloc(l->count, sizeof(*sums));
    _cleanup_buf_ struct buf path = BUF_INIT;

    assert_non_null(sums);
    for (size_t i = 0; i < s->file_count; i++) {
        const char *text = tree_path_in(s->tree, s->files[i].node, &path);
        assert_non_null(text);
        sums[l->by_file[i]] += sample_hash(text, s->files[i].bytes);
    }
    return sums;
}

/* Returns how many layers of `now` are not, with the same files, among those of `before`. */
static inline size_t sample_changed(const struct sample *was, const struct layout *before,
                                    const struct sample *is, const struct layout *now)
{
    uint64_t *old = sample_layers(was, before), *new = sample_layers(is, now);
    size_t changed = 0;

    for (size_t i = 0; i < now->count; i++) {
        bool found = false;
        for (size_t j = 0; j < before->count; j++)
            found = found || old[j] == new[i];
        changed += !found;
    }
    free(old);
    free(new);
    return changed;
}

#endif
