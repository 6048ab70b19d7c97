#include "shim/request/identity.h"

#include "shim/host/trust.h"
#include "shim/host/users/user.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct id_pair identity_process(const struct spec *spec)
{
    struct id_pair id = {.uid = spec->uid, .gid = spec->gid};

    if (!spec->process) {
        id.why = "the container has no process";
    } else if (spec->uid_map.count == 0 && spec->gid_map.count == 0) {
        id.known = !spec->joins_user_namespace;
        id.why = "the container joins a user namespace whose mapping is not known here";
    } else {
        id.known = id_map_outside(&spec->uid_map, spec->uid, &id.uid) &&
                   id_map_outside(&spec->gid_map, spec->gid, &id.gid);
        id.why = "linux.uidMappings or gidMappings do not map the container's user";
    }
    return id;
}

size_t identity_groups(const struct spec *spec, gid_t *out)
{
    size_t count = 0;

    for (size_t i = 0; i < spec->group_count; i++) {
        uint32_t gid = spec->groups[i];
        if (spec->gid_map.count && !id_map_outside(&spec->gid_map, gid, &gid))
            continue;
        out[count++] = gid;
    }
    return count;
}

/* Maps the own ids out of the user namespace that this runtime runs in. */
static int rootless_identity(struct id_pair *out, struct err *err)
{
    struct id_map map;

    if (id_map_self("uid", &map, err) < 0)
        return -1;
    out->known = id_map_outside(&map, geteuid(), &out->uid);
    if (id_map_self("gid", &map, err) < 0)
        return -1;
    out->known = out->known && id_map_outside(&map, getegid(), &out->gid);
    out->why = "the runtime's user is not mapped to one outside";
    return 0;
}

static int named_identity(const char *key, const char *value, struct id_pair *out, struct err *err)
{
    bool number = *value && value[strspn(value, "0123456789")] == '\0' && strlen(value) < 10;
    struct user user;
    enum user_answer answer =
        number ? user_by_uid((uid_t)strtoul(value, NULL, 10), &user) : user_by_name(value, &user);

    if (answer == USER_UNKNOWN)
        return err_set(err, ERR_POLICY, "%s: getent did not say who the user '%.80s' is", key,
                       value);
    if (answer == USER_NONE)
        return err_set(err, ERR_POLICY, "%s: there is no user '%.80s'", key, value);
    *out = (struct id_pair){.known = true, .uid = user.uid, .gid = user.gid};
    return 0;
}

/* Returns 1 if the rule does not apply. */
static int try_rule(const char *rule, const struct spec *spec, struct id_pair *out, struct err *err)
{
    if (strcmp(rule, "process") == 0) {
        if (trust_rootless())
            return 1;
        *out = identity_process(spec);
        return 0;
    }
    if (strcmp(rule, "rootless") == 0)
        return trust_rootless() ? rootless_identity(out, err) : 1;
    const char *key = rule + strlen("annotation:");
    const char *value = spec_annotation(spec, key);
    return value ? named_identity(key, value, out, err) : 1;
}

int identity_find(const struct policy *policy, const struct spec *spec, struct id_pair *out,
                  struct err *err)
{
    static const char *const defaults[] = {"process", "rootless"};
    bool given = policy->identity.given;
    const char *const *rules = given ? policy->identity.items : defaults;
    size_t count = given ? policy->identity.count : 2;

    *out = (struct id_pair){.why = "no rule of \"identity\" applies"};
    for (size_t i = 0; i < count; i++) {
        int rc = try_rule(rules[i], spec, out, err);
        if (rc <= 0)
            return rc;
    }
    return 0;
}

int identity_user_name(uid_t uid, struct arena *arena, const char **out, struct err *err)
{
    struct user user;
    enum user_answer answer = user_by_uid(uid, &user);

    if (answer == USER_UNKNOWN)
        return err_set(err, ERR_POLICY, "getent did not say what the user %u is called",
                       (unsigned)uid);
    if (answer == USER_NONE)
        snprintf(user.name, sizeof(user.name), "%u", (unsigned)uid);
    *out = arena_strndup(arena, user.name, strlen(user.name));
    return *out ? 0 : err_nomem(err);
}
