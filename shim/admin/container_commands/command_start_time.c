#include "shim/admin/container_commands/container_commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/admin/start/start.h"
#include "shim/admin/start/start_volumes.h"
#include "shim/host/trust.h"
#include "shim/mount/source_wait.h"
#include "shim/oci/lowlevel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_DIR "/var/lib/flatbed"

enum {
    RUNS = 5,
    TIMEOUT = 600,
    MEMORY_LIMIT = 64 * 1024 * 1024,
    EXIT_FAILED = 1, /* the command failed */
    EXIT_LIMIT = 4,  /* as budget rules (err.h) */
};

struct start_command {
    struct option_list volumes;
    const char *limit, *of, *runtime, *dir, *policy, *containerd;
    uint64_t runs, timeout;
    bool cold, warm, json;
};

static const char *const root_choices[] = {"overlay", "restacked", "caches", NULL};

#define FIELD(name) offsetof(struct start_command, name)
static const struct option_spec start_options[] = {
    {"runs", 0, OPTION_NUMBER, FIELD(runs), "N", NULL,
     "run the command N times on each root; by default 5"},
    {"cold", 0, OPTION_FLAG, FIELD(cold), NULL, NULL,
     "drop the kernel's caches before each run; everything on the host is slower meanwhile"},
    {"warm", 0, OPTION_FLAG, FIELD(warm), NULL, NULL,
     "measure with warm caches; the default, and with --cold measures both"},
    {"volume", 0, OPTION_LIST, FIELD(volumes), "SOURCE:TARGET[:rw]", NULL,
     "a directory with caches, mounted read-only or read-write; may be repeated"},
    {"limit", 0, OPTION_TEXT, FIELD(limit), "SECONDS", NULL,
     "exit with status 4 if the median is beyond this"},
    {"limit-of", 0, OPTION_CHOICE, FIELD(of), "ROOT", root_choices,
     "the root that --limit judges; by default overlay"},
    {"timeout", 0, OPTION_NUMBER, FIELD(timeout), "SECONDS", NULL,
     "the longest that a run may take; by default 600"},
    {"runtime", 0, OPTION_FILE, FIELD(runtime), "PATH", NULL,
     "the low-level runtime; by default runc or crun"},
    {"dir", 0, OPTION_FILE, FIELD(dir), "DIR", NULL,
     "for temporary files, on the file system of the layers; by default " DEFAULT_DIR},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy whose caches are mounted; by default /etc/flatbed/policy.json"},
    {"containerd", 0, OPTION_FILE, FIELD(containerd), "SOCKET", NULL,
     "also ask the containerd at this socket for the image"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print the result as JSON"},
    {0},
};

const struct command_spec command_start_time_spec = {
    .program = "flatbed",
    .name = "start-time",
    .operands = "IMAGE | LAYER[:LAYER...] -- COMMAND...",
    .summary = "Measure how long a command takes to start, and what would make it faster.",
    .details =
        "Runs COMMAND in new containers of an image of docker, podman or containerd: on the "
        "overlay of its\n"
        "layers, on one layer as restack makes it, and with caches mounted. Each container has\n"
        "the image's entry point, environment, user and working directory, no network, and an\n"
        "upper directory in memory. A table shows which of it is worth having here. LAYER is an\n"
        "unpacked layer's directory, the topmost first. Nothing stays on the host. Exit status:\n"
        "0, 1 if the command failed, 4 beyond --limit. Example:\n"
        "  flatbed start-time --limit=15 torch:2.7 -- python -c 'import torchvision'\n",
    .options = start_options,
    .min_operands = 2,
    .max_operands = -1,
    .completes = OPERANDS_NONE,
};

/* ---- the command line ---- */

static int read_limit(const char *text, double *out, struct err *err)
{
    char *end;

    if (!text)
        return 0;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out > 0 && *out <= START_MOST_TIMEOUT))
        return err_set(err, ERR_USAGE, "--limit=%s: must be seconds, such as 15 or 1.5", text);
    return 0;
}

static enum start_root read_root(const char *name)
{
    int root = START_ROOTS - 1;

    while (root > 0 && (!name || strcmp(start_root_names[root], name) != 0))
        root--;
    return (enum start_root)root;
}

static int check(const struct start_command *c, struct err *err)
{
    if (c->runs < 1 || c->runs > START_MOST_RUNS)
        return err_set(err, ERR_USAGE, "--runs is 1 to %d", START_MOST_RUNS);
    if (c->timeout < 1 || c->timeout > START_MOST_TIMEOUT)
        return err_set(err, ERR_USAGE, "--timeout is 1 to %d seconds", START_MOST_TIMEOUT);
    if (c->of && !c->limit)
        return err_set(err, ERR_USAGE, "--limit-of goes with --limit");
    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "only root can measure containers");
    return 0;
}

/* ---- measuring ---- */

static int find_image(const char *word, const char *containerd, struct arena *arena,
                      struct engine_image *out, struct err *err)
{
    if (engine_image_read(word, containerd, arena, out, err) < 0)
        return -1;
    if (out->count && !source_answers(out->layers[0], ENGINE_STORE_WAIT))
        return err_set(err, ERR_SYSTEM, "%s: does not answer", out->layers[0]);
    return 0;
}

static int find_runtime(const char *named, struct lowlevel *out, struct err *err)
{
    return lowlevel_find(named ? &named : lowlevel_defaults, named ? 1 : LOWLEVEL_DEFAULTS, out,
                         err);
}

static int find_volumes(const struct start_command *c, struct arena *arena,
                        struct start_volumes *out, struct err *err)
{
    for (size_t i = 0; i < c->volumes.count; i++)
        if (start_volumes_add(c->volumes.items[i], arena, out, err) < 0)
            return -1;
    return start_volumes_add_presets(c->policy, arena, out, err);
}

/* Returns the directory for temporary files, made if it is the default. NULL with an error. */
static const char *find_dir(const struct start_command *c, struct err *err)
{
    if (!c->dir && mkdir(DEFAULT_DIR, 0755) < 0 && errno != EEXIST) {
        err_sys(err, DEFAULT_DIR);
        return NULL;
    }
    return c->dir ? c->dir : DEFAULT_DIR;
}

/* Shows the end of a failed command's standard error. */
static void print_failure(const struct start_result *r)
{
    for (const char *line = r->tail; *line;) {
        _cleanup_buf_ struct buf out = BUF_INIT;
        size_t len = strcspn(line, "\n");
        buf_put_printable(&out, line, len);
        fprintf(stderr, "%s\n", out.data ? out.data : "");
        line += len + (line[len] == '\n');
    }
    log_error("the command failed with status %d (%s)", r->failed, r->where);
}

static int print_result(const struct start_command *c, const struct start_report *report,
                        const struct start_result *r, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (r->failed) {
        print_failure(r);
        return EXIT_FAILED;
    }
    if (c->json)
        start_put_json(report, r, &out);
    else
        start_put_text(report, r, columns_of_terminal(STDOUT_FILENO), columns_colour(STDOUT_FILENO),
                       &out);
    if (program_print(&out, err) < 0)
        return -1;
    if (report->limit > 0 && r->why[report->chosen][0])
        return err_set(err, ERR_USAGE, "--limit-of=%s: was not measured: %s",
                       start_root_names[report->chosen], r->why[report->chosen]);
    return start_exceeds(report, r) ? EXIT_LIMIT : 0;
}

static int measure(const struct start_command *c, const struct operands *words, struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    _cleanup_engine_image_ struct engine_image image = {0};
    _cleanup_free_ struct start_result *result = calloc(1, sizeof(*result));
    struct start_report report = {.image = words->list[0], .chosen = read_root(c->of)};
    struct start_volumes volumes = {0};
    struct lowlevel runtime;

    if (!result)
        return err_nomem(err);
    if (read_limit(c->limit, &report.limit, err) < 0 || check(c, err) < 0 ||
        find_image(words->list[0], c->containerd, &arena, &image, err) < 0 ||
        find_volumes(c, &arena, &volumes, err) < 0 || find_runtime(c->runtime, &runtime, err) < 0)
        return -1;
    const struct start_options options = {
        .image = &image,
        .command = words->list + 1,
        .words = (size_t)words->count - 1,
        .volumes = volumes.list,
        .volume_count = volumes.count,
        .runtime = runtime.path,
        .dir = find_dir(c, err),
        .runs = (unsigned)c->runs,
        .timeout = (unsigned)c->timeout,
        .states = {[START_COLD] = c->cold, [START_WARM] = c->warm || !c->cold}};
    if (!options.dir)
        return -1;
    if (isatty(STDERR_FILENO))
        log_info("measuring; each run may take up to %u seconds", options.timeout);
    if (start_measure(&options, result, err) < 0)
        return -1;
    return print_result(c, &report, result, err);
}

int command_start_time(int argc, char *const argv[], bool *help, struct err *err)
{
    struct start_command c = {.runs = RUNS, .timeout = TIMEOUT};
    struct operands operands = {0};
    int rc = options_parse(&command_start_time_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = measure(&c, &operands, err);
    free(operands.list);
    return rc;
}
