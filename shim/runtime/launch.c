#include "shim/runtime/launch.h"

#include "base/path.h"
#include "shim/audit/audit.h"
#include "shim/host/null_device.h"
#include "shim/host/trust.h"
#include "shim/oci/state_sweep.h"
#include "shim/policy/read/policy_read.h"
#include "shim/runtime/create.h"
#include "shim/runtime/exec/exec.h"
#include "shim/runtime/exec/inherited_fds.h"

#include <stdlib.h>
#include <string.h>

/* ---- the low-level runtime ---- */

static int find_lowlevel(struct launch *l, const struct policy *policy, struct err *err)
{
    if (l->own.runtime)
        return lowlevel_find(&l->own.runtime, 1, &l->lowlevel, err);
    if (policy->runtime_paths.given)
        return lowlevel_find(policy->runtime_paths.items, policy->runtime_paths.count, &l->lowlevel,
                             err);
    return lowlevel_find(lowlevel_defaults, LOWLEVEL_DEFAULTS, &l->lowlevel, err);
}

/* Finds the runtime of the container that the words behind the command name. */
static int find_owner(struct launch *l)
{
    bool known = call_deletes(&l->call) || call_execs(&l->call) || call_updates(&l->call) ||
                 call_starts(&l->call);
    int first = words_index(&l->words, known ? l->call.id : l->call.command);
    int count = l->words.argc - first;

    return lowlevel_find_owner(l->call.root, known && count ? 1 : count, l->words.argv + first,
                               &l->lowlevel);
}

/*
 * Finds the runtime for a command that creates nothing, with those parts of the policy that can be
 * read.
 */
static int find_lowlevel_anyhow(struct launch *l, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct err ignored;

    if (!policy)
        return -1;
    if (!l->own.runtime && policy_open(policy, l->own.policy, &ignored) < 0 &&
        !policy->runtime_paths.given && find_owner(l) == 0)
        return 0;
    return find_lowlevel(l, policy, err);
}

/* Audits a denied exec or start as the present policy says. */
static void audit_denied(const struct launch *l, const struct err *why)
{
    _cleanup_policy_ struct policy *policy = policy_new(&(struct err){0});
    struct err ignored;

    if (policy && policy_open(policy, l->own.policy, &ignored) == 0 && policy->mode != POLICY_OFF &&
        policy_decode(policy, &ignored) == 0)
        audit_refusal(&(struct audit_subject){.policy = policy, .call = &l->call}, why);
}

/* ---- exec, start, update ---- */

/* Has the low-level runtime read the descriptor `copy` instead of the file `named`. */
static int replace_file(struct launch *l, const char *named, int copy, struct err *err)
{
    _cleanup_free_ char *path = strf("/proc/self/fd/%d", copy);

    return path ? words_replace(&l->words, named, path, err) : err_nomem(err);
}

/* Hands on the working directory of an exec, behind the caller's descriptors. */
static int hand_on_directory(struct launch *l, const struct exec_files *files, struct err *err)
{
    static char option[] = "--preserve-fds";

    if (files->directory < 0)
        return 0;
    _cleanup_free_ char *count = inherited_fds_hand_on(files->directory, files->number, err);
    if (!count)
        return -1;
    return l->call.preserve_fds ? words_replace(&l->words, l->call.preserve_fds, count, err)
                                : words_insert(&l->words, l->call.id, option, count, err);
}

/* Keeps the host's null device from the container. A rootless runtime could not give it away. */
static int own_streams(struct err *err)
{
    return trust_rootless() ? 0 : null_device_replace(err);
}

static int prepare_exec(struct launch *l, struct err *err)
{
    struct exec_files files;

    if (exec_edit(&l->call, &l->lowlevel, &files, err) < 0) {
        audit_denied(l, err);
        return -1;
    }
    struct err why = ERR_INIT;
    if (own_streams(&why) < 0 && files.process >= 0) {
        *err = why;
        return -1;
    }
    if (files.process < 0)
        return 0;
    return replace_file(l, l->call.process, files.process, err) < 0
               ? -1
               : hand_on_directory(l, &files, err);
}

static int prepare_start(const struct launch *l, struct err *err)
{
    if (start_check(&l->call, err) == 0)
        return 0;
    audit_denied(l, err);
    return -1;
}

static int prepare_update(struct launch *l, struct err *err)
{
    int copy;

    if (update_edit(&l->call, &copy, err) < 0)
        return -1;
    return copy < 0 ? 0 : replace_file(l, l->call.resources, copy, err);
}

/* ---- where the container is kept ---- */

/* Returns the directory `real` with the rest of a path that is not there yet. */
static char *join_missing(const char *real, const char *rest)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct err err = ERR_INIT;

    buf_puts(&path, strcmp(real, "/") == 0 ? "" : real);
    buf_putc(&path, '/');
    if (path_clean(rest, strlen(rest), &path, &err) < 0)
        return strf("%s%s", real, rest);
    return buf_take(&path, &err);
}

/*
 * Returns the real path of --root, so that a container is found by each name of the directory; it
 * may not be there yet. NULL without memory.
 */
static char *find_real_root(const char *root)
{
    _cleanup_free_ char *known = strdup(root);

    for (char *slash = known ? known + strlen(known) : NULL; slash; slash = strrchr(known, '/')) {
        *slash = '\0';
        _cleanup_free_ char *real = realpath(*known ? known : "/", NULL);
        const char *rest = root + (slash - known);
        if (real)
            return *rest ? join_missing(real, rest) : strdup(real);
    }
    return strdup(root);
}

/* Returns true for what runc or crun takes if no --root is given. */
static bool is_default_root(const char *root)
{
    return strcmp(root, "/run/runc") == 0 || strcmp(root, "/run/crun") == 0;
}

/* A relative --root is that of a container which is there already: no state is kept under one. */
static int settle_root(struct launch *l, struct err *err)
{
    struct call *call = &l->call;

    if (!call->root || !*call->root || (call->root[0] != '/' && call_edits(call)))
        return 0;
    char *real = find_real_root(call->root);
    free(l->root);
    l->root = real;
    call->root = real && is_default_root(real) ? NULL : real;
    return real ? 0 : err_nomem(err);
}

/* ---- create, run, restore, and calls in doubt ---- */

/* Reads again, for one flavour, a line that runc and crun would read differently. */
static int read_again(struct launch *l, const struct policy *policy, struct err *err)
{
    enum lowlevel_flavor flavor = policy->flavor;

    if (flavor == FLAVOR_UNKNOWN && lowlevel_ask_flavor(&l->lowlevel, &flavor, err) < 0)
        return err_wrap(err, "runc and crun read this command line differently");
    int rc = call_read(l->words.argc, l->words.argv, flavor, &l->call, err);
    return rc < 0 ? rc : settle_root(l, err);
}

/* Audits that a broken permissive policy was passed over. */
static int pass_over_policy(const struct launch *l, struct policy *policy, const struct err *broken,
                            struct err *err)
{
    struct audit_subject subject = {.policy = policy, .call = &l->call};
    int rc = call_edits(&l->call) ? audit_decision(&subject, AUDIT_ALLOWED, broken, err) : 0;

    policy->mode = POLICY_OFF;
    return rc;
}

/*
 * Loads the policy. One that does not load is an error, unless it was read far enough to know that
 * it is permissive.
 */
static int load_policy(struct launch *l, struct policy *policy, struct err *err)
{
    if (policy_open(policy, l->own.policy, err) == 0) {
        if (policy->mode == POLICY_OFF || policy_decode(policy, err) == 0)
            return 0;
        if (policy->mode == POLICY_PERMISSIVE) {
            struct err broken = *err;
            return pass_over_policy(l, policy, &broken, err);
        }
    }
    audit_syslog_warning(err->msg);
    return -1;
}

/*
 * `rc` and `unreadable` are call_read's result; a bad line is an error only under a policy. Returns
 * 1 if config.json must be edited.
 */
static int settle_call(struct launch *l, struct policy *policy, int rc,
                       const struct err *unreadable, struct err *err)
{
    if (load_policy(l, policy, err) < 0 || find_lowlevel(l, policy, err) < 0)
        return -1;
    if (policy->mode == POLICY_OFF || policy->file_count == 0) {
        if (rc != CALL_CLEAR)
            l->call.id = NULL; /* nobody asks which container it is */
        return 0;
    }
    if (rc < 0) {
        *err = *unreadable;
        return -1;
    }
    if ((rc == CALL_AMBIGUOUS || policy->flavor != FLAVOR_UNKNOWN) &&
        read_again(l, policy, err) < 0)
        return -1;
    return call_edits(&l->call);
}

/* Prepares a call that creates a container, or one that is in doubt. */
static int prepare_judged(struct launch *l, int rc, const struct err *unreadable, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);

    if (!policy)
        return -1;
    int edits = settle_call(l, policy, rc, unreadable, err);
    if (edits >= 0)
        state_sweep(l->call.root);
    if (edits > 0 && own_streams(err) < 0)
        edits = -1;
    if (edits > 0)
        return edit_config(policy, &l->call, &l->lowlevel, err);
    if (edits < 0)
        audit_refusal(&(struct audit_subject){.policy = policy, .call = &l->call}, err);
    return edits;
}

void launch_free(struct launch *l)
{
    free(l->root);
    words_free(&l->words);
}

int launch_prepare(struct launch *l, int argc, char *const argv[], struct err *err)
{
    *l = (struct launch){0};
    int own = call_own_parse(argc, argv, &l->own, err);
    l->words = (struct words){.argc = argc - l->own.count, .argv = argv + l->own.count};
    if (own < 0) {
        struct err ignored = ERR_INIT;
        (void)!call_read(l->words.argc, l->words.argv, FLAVOR_UNKNOWN, &l->call,
                         &ignored); /* finds the log */
        return -1;
    }
    if (l->own.version)
        return 0;
    struct err unreadable = ERR_INIT;
    int rc = call_read(l->words.argc, l->words.argv, FLAVOR_UNKNOWN, &l->call, &unreadable);
    if (lowlevel_enter(err) < 0 || settle_root(l, err) < 0)
        return -1;
    bool judged = rc != CALL_CLEAR || call_edits(&l->call);
    if ((judged ? prepare_judged(l, rc, &unreadable, err) : find_lowlevel_anyhow(l, err)) < 0)
        return -1;
    if (call_updates(&l->call))
        return prepare_update(l, err);
    if (call_starts(&l->call))
        return prepare_start(l, err);
    return call_execs(&l->call) ? prepare_exec(l, err) : 0;
}
