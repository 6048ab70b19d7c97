#include "shim/admin/stage/stage_target.h"

#include "base/glob.h"
#include "base/path.h"
#include "shim/host/fd_path.h"
#include "shim/host/users/user.h"
#include "shim/mount/source.h"
#include "shim/mount/source_wait.h"
#include "shim/policy/registry_source.h"
#include "shim/policy/template.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 10 * 1000, CACHES_MOST = 64 };

void stage_target_close(struct stage_target *target)
{
    cleanup_fd(&target->fd);
    target->fd = -1;
}

/* ---- the class ---- */

static const struct policy_volume *find_by_path(const struct policy *policy, const char *path,
                                                struct arena *arena)
{
    for (size_t i = 0; i < policy->volume_count; i++) {
        const struct policy_volume *v = &policy->volumes[i];
        const char *source = v->source.text;
        const char *glob =
            v->stage.cache.text ? template_glob(source, strlen(source), arena) : NULL;
        /* A value of a template is one component, so both have the same number of them. */
        if (glob && path_depth(source) == path_depth(path) && glob_matches(glob, path))
            return v;
    }
    return NULL;
}

static int expand(struct stage_target *t, const char *name, const char *user, struct arena *arena,
                  struct err *err)
{
    char uid[16], gid[16];
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct template_values values = {
        .value = {[VAR_NAME] = name},
        .missing = {[VAR_NAME] = "write CLASS=NAME",
                    [VAR_USER] = "name the user by --user",
                    [VAR_UID] = "name the user by --user",
                    [VAR_GID] = "name the user by --user"},
    };

    if (t->has_user) {
        snprintf(uid, sizeof(uid), "%u", (unsigned)t->user.uid);
        snprintf(gid, sizeof(gid), "%u", (unsigned)t->user.gid);
        values.value[VAR_USER] = user;
        values.value[VAR_UID] = uid;
        values.value[VAR_GID] = gid;
    }
    if (template_expand(t->volume->source.text, &values, &path, err) < 0)
        return err_wrap(err, "volumes.%s", t->volume->name);
    if (buf_check(&path, err) < 0)
        return -1;
    t->path = arena_strndup(arena, path.data, path.len);
    if (!t->path)
        return err_nomem(err);
    return registry_source_is(t->path) ? registry_source_check(t->path, err) : 0;
}

static int find_user(const char *text, struct stage_target *t, struct arena *arena,
                     const char **name, struct err *err)
{
    struct user user;
    char *end;
    unsigned long uid = strtoul(text, &end, 10);
    bool number = *text >= '0' && *text <= '9' && !*end && uid < UINT32_MAX;

    if ((number ? user_by_uid((uid_t)uid, &user) : user_by_name(text, &user)) != USER_FOUND)
        return err_set(err, ERR_USAGE, "--user=%s: there is no such user", text);
    t->has_user = true;
    t->user = (struct user_ids){.uid = user.uid, .gid = user.gid};
    *name = arena_strndup(arena, user.name, strlen(user.name));
    return *name ? 0 : err_nomem(err);
}

static int find_by_name(const struct policy *policy, const char *operand, const char *user,
                        struct arena *arena, struct stage_target *t, struct err *err)
{
    size_t len = strcspn(operand, "=");
    const char *name = operand[len] ? operand + len + 1 : NULL;

    t->volume = policy_volume_find(policy, operand, len);
    if (!t->volume || !t->volume->stage.cache.text)
        return err_set(err, ERR_USAGE, "%s: the policy has no class '%.*s' with \"stage\"", operand,
                       (int)len, operand);
    if (name && !policy_offers_name(t->volume, name))
        return err_set(err, ERR_USAGE, "%s: the policy does not offer this name", operand);
    return expand(t, name, user, arena, err);
}

int stage_target_find(const struct policy *policy, const char *operand, const char *user,
                      struct arena *arena, struct stage_target *out, struct err *err)
{
    const char *name = NULL;

    *out = (struct stage_target)STAGE_TARGET_INIT;
    out->metrics = policy->audit.metrics.text;
    if (user && find_user(user, out, arena, &name, err) < 0)
        return -1;
    if (*operand != '/' && !registry_source_is(operand))
        return find_by_name(policy, operand, name, arena, out, err);
    if (*operand == '/' && !path_is_clean_absolute(operand))
        return err_set(err, ERR_USAGE, "%s: not a clean absolute path", operand);
    out->path = operand;
    out->volume = find_by_path(policy, operand, arena);
    return out->volume
               ? 0
               : err_set(err, ERR_USAGE,
                         "%s: the policy has no class with \"stage\" and this source", operand);
}

/* ---- the source ---- */

int stage_target_open(struct stage_target *t, struct arena *arena, struct err *err)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    const struct user_ids *user = t->has_user ? &t->user : NULL;
    char real[PATH_MAX];
    struct stat st;

    if (registry_source_is(t->path)) {
        t->real = t->path;
        return 0;
    }
    int hangs = source_wait(t->path, user, WAIT_MS, err);
    if (hangs)
        return hangs < 0 ? -1 : err_set(err, ERR_POLICY, "%s does not answer", t->path);
    if (source_find_for(t->path, user, &source, err) < 0)
        return -1;
    if (source.missing || !source.directory)
        return err_set(err, ERR_USAGE, "%s: there is no such directory", t->path);
    if (fd_path(source.fd, real) < 0 || fstat(source.fd, &st) < 0)
        return err_sys(err, "%s", t->path);
    t->real = arena_strndup(arena, real, strlen(real));
    if (!t->real)
        return err_nomem(err);
    t->root = stage_root_of(&st);
    t->fd = steal_fd(&source.fd);
    return 0;
}

/* ---- caches ---- */

struct visited {
    const char *paths[CACHES_MOST];
    size_t count;
};

static bool is_new(struct visited *seen, const char *path)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strcmp(seen->paths[i], path) == 0)
            return false;
    if (seen->count == CACHES_MOST)
        return false;
    seen->paths[seen->count++] = path;
    return true;
}

static int visit_volumes(const struct policy *policy, struct visited *seen,
                         int (*visit)(void *, const struct policy_stage *, struct err *),
                         void *context, struct err *err)
{
    for (size_t i = 0; i < policy->volume_count; i++) {
        const struct policy_stage *rules = &policy->volumes[i].stage;
        if (rules->cache.text && is_new(seen, rules->cache.text) && visit(context, rules, err) < 0)
            return -1;
    }
    return 0;
}

int stage_caches(const struct policy *policy,
                 int (*visit)(void *context, const struct policy_stage *rules, struct err *err),
                 void *context, struct err *err)
{
    struct visited seen = {.count = 0};

    if (visit_volumes(policy, &seen, visit, context, err) < 0)
        return -1;
    for (size_t i = 0; i < policy->profile_count; i++)
        if (visit_volumes(policy->profiles[i].policy, &seen, visit, context, err) < 0)
            return -1;
    return 0;
}
