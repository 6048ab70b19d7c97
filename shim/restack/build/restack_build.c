#include "shim/restack/build/restack_build.h"

#include "base/clock.h"
#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/json/json.h"
#include "shim/restack/build/restack_layers.h"
#include "shim/restack/build/restack_tree.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

bool restack_pays(size_t layers, double lookups)
{
    enum { MOST_LAYERS = 70, LEAST_LOOKUPS = 2 };

    return layers > MOST_LAYERS || (layers > 1 && lookups >= LEAST_LOOKUPS);
}

/* ---- one build ---- */

struct build {
    const struct restack_cache *cache;
    const struct chain *chain;
    struct arena *arena;
    struct restack_built *out;
    int directory; /* .build-KEY */
};

static int write_file(int dirfd, const char *name, const char *text, size_t len, struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, dirfd, name, 0600, err) < 0 ||
        fd_write_all(file.fd, text, len, err) < 0)
        return -1;
    return atomic_file_commit(&file, err);
}

static int write_state(const struct build *b, const char *state, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    const struct restack_built *r = b->out;

    buf_printf(&text, "{\"state\":\"%s\",\"layers\":%zu,\"made\":%lld", state, b->chain->count,
               (long long)time(NULL));
    if (r->lookups > 0)
        buf_printf(&text, ",\"files\":%llu,\"directories\":%llu,\"lookups\":%.2f",
                   (unsigned long long)r->files, (unsigned long long)r->directories, r->lookups);
    buf_printf(&text, ",\"seconds\":%.3f", r->seconds);
    if (r->why) {
        buf_puts(&text, ",\"why\":");
        json_quote(&text, r->why, strlen(r->why));
    }
    buf_puts(&text, "}\n");
    if (buf_check(&text, err) < 0 ||
        write_file(b->directory, "chain", b->chain->record, strlen(b->chain->record), err) < 0)
        return -1;
    return write_file(b->directory, "state.json", text.data, text.len, err);
}

/* Fails if the layers were removed or changed meanwhile. */
static int check_layers(const struct build *b, struct err *err)
{
    const char *record;

    if (chain_describe(b->chain, b->arena, &record, err) < 0)
        return -1;
    return strcmp(record, b->chain->record) == 0
               ? 0
               : err_set(err, ERR_UNSUPPORTED, "the layers were changed meanwhile");
}

static int set_why(struct build *b, const char *why, struct err *err)
{
    b->out->why = arena_strndup(b->arena, why, strlen(why));
    return b->out->why ? 0 : err_nomem(err);
}

static int count_lookups(struct build *b, const struct merge_layers *layers, struct err *err)
{
    struct merge_counts counts;

    if (restack_merge(layers, NULL, NULL, &counts, err) < 0)
        return -1;
    b->out->files = counts.files;
    b->out->directories = counts.directories;
    b->out->lookups = counts.files ? (double)counts.lookups / (double)counts.files : 1;
    return 0;
}

/* Makes the tree; if it does not pay, says so instead. */
static int make_tree(struct build *b, bool force, struct err *err)
{
    _cleanup_merge_layers_ struct merge_layers layers = MERGE_LAYERS_INIT;
    _cleanup_free_ char *path = strf("%s/.build-%s", b->cache->path, b->chain->key);
    _cleanup_fd_ int directory = -1;
    struct merge_counts counts;
    char why[128];

    if (!path)
        return err_nomem(err);
    if (restack_layers_open(b->chain, path, b->arena, &layers, &directory, err) < 0 ||
        count_lookups(b, &layers, err) < 0)
        return -1;
    if (!force && !restack_pays(b->chain->count, b->out->lookups)) {
        snprintf(why, sizeof(why),
                 "it would not pay: %zu layers, and only %.1f of them are looked into to find a "
                 "file",
                 b->chain->count, b->out->lookups);
        return set_why(b, why, err);
    }
    if (mkdirat(directory, "tree", 0700) < 0)
        return err_sys(err, "cannot make the tree");
    _cleanup_fd_ int root = fd_open_directory(directory, "tree");
    if (root < 0)
        return err_sys(err, "cannot make the tree");
    if (restack_tree_make(&layers, root, &counts, err) < 0 || check_layers(b, err) < 0)
        return -1;
    b->out->ready = true;
    return 0;
}

/* Removes what an interrupted build left. */
static void clear_build(const struct build *b)
{
    static const char *const names[] = {"tree", "chain", "state.json"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        _cleanup_free_ char *name = strf(".build-%s/%s", b->chain->key, names[i]);
        if (name)
            restack_cache_remove(b->cache, name);
    }
}

static int run_build(struct build *b, bool force, struct err *err)
{
    struct err failure = ERR_INIT;
    double start = clock_seconds();

    clear_build(b);
    bool failed = check_layers(b, &failure) < 0 || make_tree(b, force, &failure) < 0;
    b->out->seconds = clock_seconds() - start;
    if (failed) {
        clear_build(b);
        if (set_why(b, failure.msg, err) < 0)
            return -1;
    }
    const char *state = b->out->ready ? "ready"
                        : !failed || failure.kind == ERR_UNSUPPORTED || failure.kind == ERR_LIMIT
                            ? "skipped"
                            : "failed";
    if (write_state(b, state, err) < 0)
        return -1;
    return restack_cache_publish(b->cache, b->chain, err);
}

/* Returns 1 if another process made the tree meanwhile: it may be mounted, and stays. */
static int tree_exists(const struct build *b, struct err *err)
{
    struct restack_entry entry = RESTACK_ENTRY_INIT;

    if (restack_cache_find(b->cache, b->chain, b->arena, &entry, err) < 0)
        return -1;
    cleanup_fd(&entry.fd);
    if (entry.state != RESTACK_READY)
        return 0;
    _cleanup_free_ char *name = strf(".build-%s", b->chain->key);
    if (name)
        restack_cache_remove(b->cache, name);
    b->out->ready = true;
    return 1;
}

int restack_build(const struct restack_cache *cache, const struct chain *chain, bool force,
                  struct arena *arena, struct restack_built *out, struct err *err)
{
    struct rlimit files;

    *out = (struct restack_built){0};
    _cleanup_fd_ int directory = restack_cache_begin(cache, chain, err);
    if (directory < 0)
        return -1;
    _cleanup_fd_ int lock = restack_cache_lock(cache, true, err);
    if (lock < 0)
        return -1;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { /* each layer takes a descriptor */
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    struct build b = {cache, chain, arena, out, directory};
    int there = tree_exists(&b, err);
    return there ? (there < 0 ? -1 : 0) : run_build(&b, force, err);
}
