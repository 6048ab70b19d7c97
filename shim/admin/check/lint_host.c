/* Checks on this host what the policy names. */
#include "shim/admin/check/lint.h"

#include "base/arena.h"
#include "base/path.h"
#include "shim/admin/check/lint_stage.h"
#include "shim/audit/audit_directory.h"
#include "shim/host/flatten_program.h"
#include "shim/host/process/patience.h"
#include "shim/mount/mount_table.h"
#include "shim/mount/source.h"
#include "shim/mount/source_wait.h"
#include "shim/oci/lowlevel.h"
#include "shim/policy/registry_source.h"
#include "shim/warm/record/warm_store.h"

#include <string.h>
#include <sys/stat.h>

enum {
    WAIT = 5,
    IMPATIENCE = 1
}; /* seconds, where the policy sets no bound; after one that hung */

/* The mount points of sources that did not answer. */
struct hung {
    struct arena arena;
    const char **points;
    size_t count;
};

/* Users can swap links in their mounts; without "binds" and volumes nothing is judged there. */
static void lint_version(const struct policy *policy, struct lowlevel *low, struct findings *out)
{
    struct lowlevel_version version;
    struct err ignored;

    if ((!policy->binds.given && !policy->volume_count) ||
        lowlevel_ask_version(low, &version, &ignored) < 0 || !lowlevel_follows_links(&version))
        return;
    findings_add(out, FINDING_WARNING, "runtime-follows-links",
                 policy->runtime_paths.given ? &policy->runtime_paths.place : NULL,
                 "%s is runc %s: for a mount below a directory that a user can write to, it may "
                 "make directories elsewhere on this host, as root (CVE-2024-45310); update it to "
                 "1.1.14 or 1.2, or use crun, unless the distribution has mended it",
                 low->path, version.text);
}

static void lint_runtimes(const struct policy *policy, struct findings *out)
{
    const struct policy_list *paths = &policy->runtime_paths;
    struct lowlevel low;
    struct err err = ERR_INIT;

    int rc = paths->given ? lowlevel_find(paths->items, paths->count, &low, &err)
                          : lowlevel_find(lowlevel_defaults, LOWLEVEL_DEFAULTS, &low, &err);
    if (rc < 0) {
        findings_add(out, FINDING_ERROR, "runtime-missing", paths->given ? &paths->place : NULL,
                     "%s", err.msg);
        return;
    }
    lint_version(policy, &low, out);
    for (size_t i = 0; i < paths->count; i++)
        if (paths->items[i][0] == '/' && access(paths->items[i], X_OK) < 0)
            findings_add(out, FINDING_WARNING, "runtime-missing", &paths->place,
                         "runtime.paths: %s is not there, or cannot be executed", paths->items[i]);
}

/*
 * Returns the directory that is the same for all containers; *whole: a template without variables.
 */
static char *fixed_part(const char *text, bool *whole)
{
    const char *brace = strchr(text, '{');

    *whole = !brace;
    if (!brace)
        return strdup(text);
    while (brace > text + 1 && *brace != '/')
        brace--;
    return strndup(text, (size_t)(brace - text));
}

static void add_missing(const struct policy_volume *v, const struct policy_text *text,
                        const char *path, bool whole, struct findings *out)
{
    bool made = v->create.wanted && text != &v->pool;

    if (made || v->optional)
        return;
    findings_add(out, whole && v->always ? FINDING_ERROR : FINDING_WARNING, "source-missing",
                 &text->place, "volumes.%s: %s does not exist%s", v->name, path,
                 !whole      ? ""
                 : v->always ? ": no container can start"
                             : ": a container that asks for it is refused");
}

/* Takes note of what hangs: the file system of the path, or the path alone. */
static int add_hung(const char *path, struct hung *hung, struct err *err)
{
    struct mount_table table;

    if (mount_table_read(&hung->arena, &table, err) < 0)
        return -1;
    const char *point = mount_table_over(&table, path);
    const char *copy = point ? point : arena_strndup(&hung->arena, path, strlen(path));
    const char **grown = arena_extend(&hung->arena, hung->points, hung->count, sizeof(*grown));
    if (!copy || !grown)
        return err_nomem(err);
    hung->points = grown;
    grown[hung->count++] = copy;
    return 0;
}

/* Returns true if the source lies in what hangs, without asking for it. */
static bool is_hung(const char *path, const struct hung *hung)
{
    for (size_t i = 0; i < hung->count; i++)
        if (path_is_beneath(path, hung->points[i]))
            return true;
    return false;
}

/* Returns 1 for a source that does not answer, 0 for one that does, -1 if it cannot be asked. */
static int wait_for_source(const struct policy_volume *v, const char *path, struct hung *hung,
                           const struct findings *out, struct err *err)
{
    unsigned patience = out->patience ? out->patience : (v->wait ? v->wait : WAIT) * 1000u;

    if (is_hung(path, hung))
        return 1;
    if (hung->count && patience > IMPATIENCE * 1000u)
        patience = IMPATIENCE * 1000u;
    patience_step(path);
    int hangs = source_wait(path, NULL, patience, err);
    return hangs > 0 && add_hung(path, hung, err) < 0 ? -1 : hangs;
}

static void lint_source(const struct policy_volume *v, const struct policy_text *text,
                        struct hung *hung, struct findings *out)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct err err = ERR_INIT;
    struct stat st;
    bool whole;
    _cleanup_free_ char *path = fixed_part(text->text, &whole);

    if (!path) {
        out->failed = true;
        return;
    }
    int hangs = wait_for_source(v, path, hung, out, &err);
    if (hangs > 0) {
        findings_add(out, FINDING_WARNING, "source-hangs", &text->place,
                     "volumes.%s: %s does not answer", v->name, path);
        return;
    }
    if (hangs < 0 || source_find(path, &source, &err) < 0) {
        findings_add(out, whole ? FINDING_ERROR : FINDING_WARNING, "source-refused", &text->place,
                     "volumes.%s: %s", v->name, err.msg);
        return;
    }
    if (source.missing)
        add_missing(v, text, path, whole, out);
    else if (!v->create.wanted && fstat(source.fd, &st) == 0 && (st.st_mode & S_IWOTH))
        findings_add(out, FINDING_WARNING, "source-writable", &text->place,
                     "volumes.%s: everybody on the host can write to %s (mode %04o), and so "
                     "decides what containers get",
                     v->name, path, (unsigned)(st.st_mode & 07777));
}

static void lint_profile(const struct policy_text *profile, struct findings *out)
{
    if (profile->text && access(profile->text, R_OK) < 0)
        findings_add(out, FINDING_ERROR, "profile-missing", &profile->place,
                     "security.seccomp: %s cannot be read", profile->text);
}

/* Checks the directory of an audit or metrics file. */
static void lint_directory(const struct policy_text *file, bool trusted, bool required,
                           struct findings *out)
{
    struct err err = ERR_INIT;
    const char *name;
    _cleanup_fd_ int fd = file->text ? audit_directory_open(file->text, trusted, &name, &err) : -1;

    if (fd < 0 && trusted && err.sys == ENOENT) /* the directory will be made */
        return;
    if (file->text && fd < 0)
        findings_add(out, required ? FINDING_ERROR : FINDING_WARNING, "audit-refused", &file->place,
                     "audit: %s: %s", err.msg,
                     required ? "no container can start" : "nothing can be written there");
}

static void lint_audit(const struct policy_audit *audit, struct findings *out)
{
    lint_directory(&audit->file, true, audit->required, out);
    lint_directory(&audit->metrics, false, false, out);
}

/* Volumes from a registry are fetched by flatten. */
static void lint_flatten(const struct policy_volume *v, struct findings *out)
{
    _cleanup_arena_ struct arena arena = {0};
    struct err why = ERR_INIT;

    if (!flatten_program(&arena, &why))
        findings_add(out, FINDING_WARNING, "flatten-missing", &v->source.place,
                     "volumes.%s: nothing can be fetched: %s", v->name, why.msg);
}

/* A directory that is missing is made by the first launch. */
static void lint_warm(const struct policy_warm *warm, struct findings *out)
{
    const struct policy_text *cache = &warm->cache;
    _cleanup_warm_store_ struct warm_store store = WARM_STORE_INIT;
    struct err err = ERR_INIT;

    if (!warm->given || geteuid() != 0 ||
        warm_store_open(cache->text ? cache->text : WARM_CACHE, false, &store, &err) == 0 ||
        err_missing(&err))
        return;
    findings_add(out, FINDING_WARNING, "warm-refused", cache->text ? &cache->place : NULL,
                 "warm: nothing is recorded or read ahead: %s", err.msg);
}

void lint_host(const struct policy *policy, struct findings *out)
{
    struct hung hung = {0};

    if (policy->mode == POLICY_OFF)
        return;
    lint_runtimes(policy, out);
    for (size_t i = 0; i < policy->volume_count; i++) {
        const struct policy_volume *v = &policy->volumes[i];
        if (registry_source_is(v->source.text))
            lint_flatten(v, out);
        else
            lint_source(v, &v->source, &hung, out);
        if (v->pool.text)
            lint_source(v, &v->pool, &hung, out);
    }
    lint_stage_host(policy, out);
    lint_profile(&policy->security.profile, out);
    lint_audit(&policy->audit, out);
    lint_warm(&policy->warm, out);
    for (size_t i = 0; i < policy->profile_count; i++)
        if (policy->profiles[i].policy->audit.file.text != policy->audit.file.text)
            lint_audit(&policy->profiles[i].policy->audit, out);
    arena_free(&hung.arena);
}
