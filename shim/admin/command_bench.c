#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "base/path.h"
#include "shim/admin/bench/bench.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* flatten looks for it here: flatten/analyze/lookups/lookup_costs.c. */
#define COSTS_DIR  "/var/lib/flatbed"
#define COSTS_FILE COSTS_DIR "/costs.json"

struct bench_command {
    const char *dir, *costs;
    uint64_t runs, size;
    bool drop, save, json;
};

#define FIELD(name) offsetof(struct bench_command, name)
static const struct option_spec bench_options[] = {
    {"dir", 0, OPTION_FILE, FIELD(dir), "DIR", NULL,
     "measure on the file system of this directory; by default an engine's store"},
    {"runs", 0, OPTION_NUMBER, FIELD(runs), "N", NULL,
     "take medians of this many runs; by default 7"},
    {"size", 0, OPTION_NUMBER, FIELD(size), "MIB", NULL,
     "size of the file that is copied up and read; by default 64"},
    {"drop-caches", 0, OPTION_FLAG, FIELD(drop), NULL, NULL,
     "also measure with the kernel's caches dropped; everything on the host is slower meanwhile"},
    {"save", 0, OPTION_FLAG, FIELD(save), NULL, NULL,
     "keep the result in " COSTS_FILE ", for flatten analyze"},
    {"costs", 0, OPTION_FILE, FIELD(costs), "FILE", NULL,
     "with --save: another file to keep it in"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {0},
};

const struct command_spec command_bench_spec = {
    .name = "bench",
    .operands = "",
    .summary = "Measure what overlay mounts cost on this host.",
    .details =
        "Overlay mounts of 1 (a flattened image), 5, 20 and 60 layers against a bind mount:\n"
        "lookups and listings, copy-up, reads. Works in a temporary directory and a mount\n"
        "namespace of its own; without root also in a user namespace, if the kernel allows it.\n",
    .options = bench_options,
    .completes = OPERANDS_NONE,
};

/* Opens the directory of a file, and sets *name to the file's name in it. */
static int open_directory(const char *path, const char **name, struct err *err)
{
    _cleanup_free_ char *directory = path_parent(path, name);

    if (!directory)
        return err_nomem(err);
    int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? err_sys(err, "%s", directory) : dir;
}

/* Opens the directory for the result before the measurement, which would otherwise be lost. */
static int prepare_save(const struct bench_command *c, const char *path, int *dir,
                        const char **name, struct err *err)
{
    if (!c->save)
        return c->costs ? err_set(err, ERR_USAGE, "--costs goes with --save") : 0;
    if (!c->costs && mkdir(COSTS_DIR, 0755) < 0 && errno != EEXIST)
        return err_sys(err, COSTS_DIR);
    *dir = open_directory(path, name, err);
    if (*dir < 0)
        return -1;
    return faccessat(*dir, ".", W_OK, AT_EACCESS) < 0 ? err_sys(err, "%s", path) : 0;
}

static int save_result(const char *path, int dir, const char *name, const struct buf *json,
                       struct err *err)
{
    _cleanup_atomic_file_ struct atomic_file file = ATOMIC_FILE_INIT;

    if (atomic_file_begin(&file, dir, name, 0644, err) < 0)
        return err_wrap(err, "%s", path);
    if (fchmod(file.fd, 0644) < 0) /* readable for all users, whatever the umask */
        return err_sys(err, "%s", path);
    if (fd_write_all(file.fd, json->data, json->len, err) < 0 || atomic_file_commit(&file, err) < 0)
        return err_wrap(err, "%s", path);
    log_info("saved in %s", path);
    return 0;
}

static int print_result(const struct bench_command *c, const struct bench_result *r,
                        const struct buf *json, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (c->json)
        return program_print(json, err);
    bench_put_text(r, columns_colour(STDOUT_FILENO), &out);
    return program_print(&out, err);
}

static int bench(const struct bench_command *c, struct err *err)
{
    const char *path = c->costs ? c->costs : COSTS_FILE;
    _cleanup_fd_ int dir = -1;
    const char *name = NULL;
    _cleanup_free_ struct bench_result *result = calloc(1, sizeof(*result));
    _cleanup_buf_ struct buf json = BUF_INIT;
    const struct bench_options options = {c->dir ? c->dir : bench_default_dir(), (unsigned)c->runs,
                                          (unsigned)c->size, c->drop};

    if (!result)
        return err_nomem(err);
    if (c->runs < 1 || c->runs > BENCH_MOST_RUNS || c->size < 1 || c->size > BENCH_MOST_MEGABYTES)
        return err_set(err, ERR_USAGE, "--runs is 1 to %d, --size 1 to %d", BENCH_MOST_RUNS,
                       BENCH_MOST_MEGABYTES);
    if (prepare_save(c, path, &dir, &name, err) < 0)
        return -1;
    if (isatty(STDERR_FILENO))
        log_info("measuring in %s, for half a minute or longer", options.dir);
    if (bench_run(&options, result, err) < 0)
        return -1;
    bench_put_json(result, &json);
    if (buf_check(&json, err) < 0 || print_result(c, result, &json, err) < 0)
        return -1;
    return c->save ? save_result(path, dir, name, &json, err) : 0;
}

int command_bench(int argc, char *const argv[], bool *help, struct err *err)
{
    struct bench_command c = {.runs = 7, .size = 64};
    struct operands operands = {0};
    int rc = options_parse(&command_bench_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = bench(&c, err);
    free(operands.list);
    return rc;
}
