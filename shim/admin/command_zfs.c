#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/admin/zfs/advice.h"
#include "shim/admin/zfs/names.h"
#include "shim/admin/zfs/places.h"
#include "shim/admin/zfs/rules.h"
#include "shim/admin/zfs/store/difference.h"
#include "shim/admin/zfs/store/images.h"
#include "shim/admin/zfs/store/output.h"
#include "shim/admin/zfs/store/snapshots.h"
#include "shim/policy/read/policy_read.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 128 * 1024 * 1024, STATUS_UNREAD = 1 };

struct zfs_command {
    struct option_list stores;
    const char *policy;
    bool json, dry;
};

#define FIELD(name) offsetof(struct zfs_command, name)
static const struct option_spec zfs_options[] = {
    {"store", 0, OPTION_LIST, FIELD(stores), "DIR", NULL,
     "this store of images instead of those of the engines' configurations; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "advice: the policy whose volumes are looked at; by default the host's"},
    {"dry-run", 0, OPTION_FLAG, FIELD(dry), NULL, NULL,
     "snapshot: print the commands of zfs, and run none"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "advice, list, diff: print it as JSON"},
    {0},
};

const struct command_spec command_zfs_spec = {
    .program = "flatbed",
    .name = "zfs",
    .operands = "advice [[USE=]PATH...] | snapshot NAME | list | diff A [B]",
    .summary = "Advise on ZFS beneath images and volumes, and keep versions of the image store.",
    .details =
        "advice    judges compression, recordsize, atime, xattr, dnodesize and dedup of the\n"
        "          datasets on which the engines' stores, the policy's volumes and each PATH lie.\n"
        "          USE is images, models, datasets, scratch or logs; without it names tell.\n"
        "snapshot  takes a snapshot of the datasets of the stores, those of a pool in one moment.\n"
        "list      shows their snapshots.\n"
        "diff      shows which images and layers differ between two snapshots, or a snapshot and\n"
        "          now. A and B may also be directories: clones or received copies of a store.\n"
        "A snapshot has what the engine had given to the kernel: files of pulled images are "
        "whole,\n"
        "but what containers are writing, and an image that is being pulled, may be half there,\n"
        "as after a power cut. Engines start on it; stop them first for a snapshot without that.\n"
        "Only snapshot changes anything. Exit status 1: something could not be read.\n",
    .options = zfs_options,
    .min_operands = 1,
    .max_operands = -1,
    .completes = OPERANDS_FILES,
};

/* ---- advice ---- */

static int add_policy(const struct zfs_command *c, struct zfs_places *places, struct arena *arena,
                      struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);

    if (!policy)
        return -1;
    if (policy_open(policy, c->policy, err) < 0 || policy_decode(policy, err) < 0) {
        if (c->policy)
            return -1;
        log_warning("volumes are left out: %s", err->msg);
        return 0;
    }
    return zfs_places_volumes(places, policy, arena, err);
}

/* The stores that are named, else those of the engines. */
static int add_stores(const struct zfs_command *c, struct zfs_places *places, struct arena *arena,
                      struct err *err)
{
    for (size_t i = 0; i < c->stores.count; i++)
        if (zfs_places_add(places, c->stores.items[i], ZFS_IMAGES, arena, err) < 0)
            return -1;
    return c->stores.count ? 0 : zfs_places_stores(places, arena, err);
}

static int advice(const struct zfs_command *c, const char *const *words, int count,
                  struct arena *arena, struct buf *out, struct err *err)
{
    struct zfs_places places = {0};
    struct zfs_advices advices;

    for (int i = 0; i < count; i++)
        if (zfs_places_word(&places, words[i], arena, err) < 0)
            return -1;
    if (add_stores(c, &places, arena, err) < 0 || add_policy(c, &places, arena, err) < 0 ||
        zfs_advise(&places, arena, &advices, err) < 0)
        return -1;
    for (size_t i = 0; i < advices.problem_count; i++)
        log_warning("%s: left out: %s", advices.problems[i].path, advices.problems[i].why);
    if (!c->json)
        zfs_put_advice(&advices, columns_of_terminal(STDOUT_FILENO), out);
    else if (zfs_json_advice(&advices, out, err) < 0)
        return -1;
    return advices.problem_count ? STATUS_UNREAD : 0;
}

/* ---- stores and snapshots ---- */

static int find_stores(const struct zfs_command *c, struct zfs_stores *stores, struct arena *arena,
                       struct err *err)
{
    struct zfs_places places = {0};

    if (add_stores(c, &places, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < places.count; i++)
        if (zfs_stores_add(stores, places.list[i].path, arena, err) < 0)
            return -1;
    return stores->count
               ? 0
               : err_set(err, ERR_UNSUPPORTED, "no store of images lies on ZFS (see --store)");
}

static int snapshot(const struct zfs_command *c, const char *name, struct arena *arena,
                    struct buf *out, struct err *err)
{
    struct zfs_stores stores = {0};

    if (find_stores(c, &stores, arena, err) < 0 ||
        zfs_snapshots_take(&stores, name, c->dry, arena, out, err) < 0)
        return -1;
    for (size_t i = 0; i < stores.count; i++)
        if (!stores.list[i].own)
            log_warning("%s is no dataset of its own: its snapshot has all of %s, but no dataset "
                        "below",
                        stores.list[i].path, stores.list[i].dataset);
    return 0;
}

static int list(const struct zfs_command *c, struct arena *arena, struct buf *out, struct err *err)
{
    struct zfs_stores stores = {0};

    if (find_stores(c, &stores, arena, err) < 0)
        return -1;
    struct zfs_snapshots *lists = arena_alloc(arena, stores.count * sizeof(*lists));
    if (!lists)
        return err_nomem(err);
    for (size_t i = 0; i < stores.count; i++)
        if (zfs_snapshots_list(stores.list[i].dataset, arena, &lists[i], err) < 0)
            return -1;
    if (c->json)
        return zfs_json_snapshots(&stores, lists, out, err);
    zfs_put_snapshots(&stores, lists, columns_of_terminal(STDOUT_FILENO), out);
    return 0;
}

/* ---- diff ---- */

/* Opens the store as it was in a snapshot; NULL: as it is. */
static int open_store(const struct zfs_store *store, const char *name, struct err *err)
{
    _cleanup_free_ char *path =
        name ? strf("%s/.zfs/snapshot/%s/%s", store->mount, name, store->inside) : NULL;
    int fd = open(path ? path : store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (name && !path)
        return err_nomem(err);
    if (fd < 0 && name && errno == ENOENT)
        return err_set(err, ERR_SYSTEM,
                       "%s is not there: no such snapshot (flatbed zfs list), or this ZFS shows "
                       "none (zfs-fuse: clone it, and name the clone's directory)",
                       path);
    return fd < 0 ? err_sys(err, "%s", path ? path : store->path) : fd;
}

/* Reads one side: a directory, or a snapshot of the store, or (NULL) the store as it is. */
static int read_side(const struct zfs_store *store, const char *side, struct arena *arena,
                     struct zfs_items *out, struct err *err)
{
    bool directory = side && side[0] == '/';

    if (side && !directory && !zfs_snapshot_valid(side))
        return err_set(err, ERR_USAGE, "'%s' is neither a snapshot nor an absolute path", side);
    _cleanup_fd_ int fd =
        directory ? open(side, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : open_store(store, side, err);
    if (fd < 0)
        return directory ? err_sys(err, "%s", side) : -1;
    return zfs_items_read(fd, arena, out, err) < 0 ? err_wrap(err, "%s",
                                                              side    ? side
                                                              : store ? store->path
                                                                      : "the store")
                                                   : 0;
}

static int diff_store(const struct zfs_store *store, const char *from, const char *to,
                      struct arena *arena, struct zfs_report *out, struct err *err)
{
    struct zfs_items *sides = arena_alloc(arena, 2 * sizeof(*sides));

    if (!sides)
        return err_nomem(err);
    *out = (struct zfs_report){.store = store ? store->path : NULL, .from = from, .to = to};
    if (read_side(store, from, arena, &sides[0], err) < 0 ||
        read_side(store, to, arena, &sides[1], err) < 0)
        return -1;
    if (store && !to && from[0] != '/')
        out->knows_written = zfs_written_since(store->dataset, from, &out->written);
    return zfs_compare(&sides[0], &sides[1], arena, &out->difference, err);
}

/* Compares each store that can be; one that cannot is a warning if another can. */
static int diff(const struct zfs_command *c, const char *from, const char *to, struct arena *arena,
                struct buf *out, struct err *err)
{
    bool directories = from[0] == '/' && to && to[0] == '/';
    struct zfs_stores stores = {0};
    size_t done = 0, failed = 0;

    if (!directories && find_stores(c, &stores, arena, err) < 0)
        return -1;
    size_t count = directories ? 1 : stores.count;
    struct zfs_report *reports = arena_alloc(arena, count * sizeof(*reports));
    if (!reports)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        const struct zfs_store *store = directories ? NULL : &stores.list[i];
        if (diff_store(store, from, to, arena, &reports[done], err) == 0) {
            done++;
            continue;
        }
        if (count == 1 || (i + 1 == count && done == 0))
            return -1;
        log_warning("%s: left out: %s", store ? store->path : from, err->msg);
        failed++;
    }
    if (!c->json)
        zfs_put_reports(reports, done, columns_of_terminal(STDOUT_FILENO), out);
    else if (zfs_json_reports(reports, done, out, err) < 0)
        return -1;
    return failed ? STATUS_UNREAD : 0;
}

/* ---- the command ---- */

static int zfs(const struct zfs_command *c, const struct operands *words, struct arena *arena,
               struct buf *out, struct err *err)
{
    const char *what = words->list[0];
    int count = words->count - 1;
    bool advises = strcmp(what, "advice") == 0, takes = strcmp(what, "snapshot") == 0;

    if ((c->policy && !advises) || (c->dry && !takes) || (c->json && takes))
        return err_set(err, ERR_USAGE, "zfs %s does not take that option; see --help", what);
    if (advises)
        return advice(c, words->list + 1, count, arena, out, err);
    if (takes && count == 1)
        return snapshot(c, words->list[1], arena, out, err);
    if (strcmp(what, "list") == 0 && count == 0)
        return list(c, arena, out, err);
    if (strcmp(what, "diff") == 0 && (count == 1 || count == 2))
        return diff(c, words->list[1], count == 2 ? words->list[2] : NULL, arena, out, err);
    return err_set(err, ERR_USAGE, "expected: flatbed zfs %s", command_zfs_spec.operands);
}

int command_zfs(int argc, char *const argv[], bool *help, struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY};
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct zfs_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_zfs_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = zfs(&c, &operands, &arena, &out, err);
    if (rc >= 0 && out.len && program_print(&out, err) < 0)
        rc = -1;
    free(operands.list);
    return rc;
}
