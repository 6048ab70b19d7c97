#include "shim/oci/spec.h"

#include "base/path.h"
#include "shim/oci/spec_names.h"

#include <string.h>

/*
 * Sets *out to the member of that type, or to NULL if it is missing (or null, which Go takes for
 * missing). Fails for another type.
 */
static int member(const struct json *object, const char *key, enum json_type type,
                  const char *where, struct json **out, struct err *err)
{
    struct json *value = json_get(object, key);

    *out = NULL;
    if (!value || value->type == JSON_NULL)
        return 0;
    if (value->type != type)
        return err_set(err, ERR_FORMAT, "%s%s: expected %s, not %s", where, key,
                       json_type_name(type), json_type_name(value->type));
    *out = value;
    return 0;
}

static int member_text(const struct json *object, const char *key, const char *where,
                       const char **out, struct err *err)
{
    struct json *value;

    if (member(object, key, JSON_STRING, where, &value, err) < 0)
        return -1;
    *out = json_text(value);
    if (value && !*out)
        return err_set(err, ERR_FORMAT, "%s%s: a NUL byte", where, key);
    return 0;
}

static int member_id(const struct json *object, const char *key, const char *where, uint32_t *out,
                     struct err *err)
{
    struct json *value;
    uint64_t number;

    if (member(object, key, JSON_NUMBER, where, &value, err) < 0)
        return -1;
    if (!value)
        return 0;
    if (!json_u64(value, &number) || number > UINT32_MAX)
        return err_set(err, ERR_FORMAT, "%s%s: %.32s is not an id", where, key, value->text);
    *out = (uint32_t)number;
    return 0;
}

/* (uid_t)-1 is no user: setuid(2) refuses it, and crun stays root. */
static int member_user(const struct json *object, const char *key, const char *where, uint32_t *out,
                       struct err *err)
{
    if (member_id(object, key, where, out, err) < 0)
        return -1;
    return *out < UINT32_MAX ? 0
                             : err_set(err, ERR_FORMAT, "%s%s: %u is no id of a user or group",
                                       where, key, UINT32_MAX);
}

/* ---- sections ---- */

static int clean_destination(const char *text, struct arena *arena, const char **out,
                             struct err *err)
{
    _cleanup_buf_ struct buf path = BUF_INIT;

    buf_putc(&path, '/');
    if (path_clean(text, strlen(text), &path, err) < 0)
        return err_wrap(err, "the mount destination '%.200s'", text);
    *out = arena_strndup(arena, path.data, path.len);
    return *out ? 0 : err_nomem(err);
}

/* Reads the effect of the options. */
static void read_options(struct spec_mount *out)
{
    const struct json *options = out->options;

    out->bind = (out->type && strcmp(out->type, "bind") == 0) || spec_has_option(options, "bind") ||
                spec_has_option(options, "rbind");
    for (size_t i = 0; i < json_count(options); i++) {
        const char *option = json_text(json_at(options, i));
        if (!option)
            continue;
        /* runc ignores the recursive one for other types. */
        if (strcmp(option, "ro") == 0 || (out->bind && strcmp(option, "rro") == 0))
            out->read_only = true;
        else if (strcmp(option, "rw") == 0)
            out->read_only = false;
    }
}

static int read_mount(const struct json *mount, struct arena *arena, struct spec_mount *out,
                      struct err *err)
{
    const char *destination;

    if (!json_is(mount, JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "mounts: an entry that is not an object");
    out->entry = mount;
    if (member_text(mount, "destination", "mounts[].", &destination, err) < 0 ||
        member_text(mount, "source", "mounts[].", &out->source, err) < 0 ||
        member_text(mount, "type", "mounts[].", &out->type, err) < 0 ||
        member(mount, "options", JSON_ARRAY, "mounts[].", &out->options, err) < 0)
        return -1;
    if (!destination)
        return err_set(err, ERR_FORMAT, "mounts: an entry without a destination");
    read_options(out);
    return clean_destination(destination, arena, &out->destination, err);
}

static int read_mounts(struct spec *s, struct arena *arena, struct err *err)
{
    if (member(s->root, "mounts", JSON_ARRAY, "", &s->mounts, err) < 0)
        return -1;
    s->mount_count = json_count(s->mounts);
    s->list = arena_alloc(arena, (s->mount_count + 1) * sizeof(*s->list));
    if (!s->list)
        return err_nomem(err);
    for (size_t i = 0; i < s->mount_count; i++)
        if (read_mount(json_at(s->mounts, i), arena, &s->list[i], err) < 0)
            return -1;
    return 0;
}

static int read_groups(struct spec *s, const struct json *user, struct err *err)
{
    struct json *list;
    uint64_t gid;

    if (member(user, "additionalGids", JSON_ARRAY, "process.user.", &list, err) < 0)
        return -1;
    if (json_count(list) > SPEC_GROUPS)
        return err_set(err, ERR_LIMIT, "process.user.additionalGids: more than %d groups",
                       SPEC_GROUPS);
    for (size_t i = 0; i < json_count(list); i++) {
        if (!json_u64(json_at(list, i), &gid) || gid >= UINT32_MAX)
            return err_set(err, ERR_FORMAT, "process.user.additionalGids: not an id");
        s->groups[s->group_count++] = (uint32_t)gid;
    }
    return 0;
}

static int read_user(struct spec *s, struct err *err)
{
    struct json *user;

    if (member(s->process, "user", JSON_OBJECT, "process.", &user, err) < 0)
        return -1;
    if (!user)
        return 0;
    if (member_user(user, "uid", "process.user.", &s->uid, err) < 0 ||
        read_groups(s, user, err) < 0)
        return -1;
    return member_user(user, "gid", "process.user.", &s->gid, err);
}

static int read_process(struct spec *s, struct err *err)
{
    struct json *capabilities;

    if (member(s->process, "env", JSON_ARRAY, "process.", &s->env, err) < 0 ||
        member(s->process, "rlimits", JSON_ARRAY, "process.", &s->rlimits, err) < 0 ||
        member(s->process, "capabilities", JSON_OBJECT, "process.", &capabilities, err) < 0)
        return -1;
    for (size_t i = 0; i < json_count(s->env); i++)
        if (!json_text(json_at(s->env, i)))
            return err_set(err, ERR_FORMAT, "process.env: an entry that is not a plain string");
    return read_user(s, err);
}

int spec_read_exec(struct json_doc *doc, struct spec *out, struct err *err)
{
    *out = (struct spec){.process = json_root(doc)};
    if (!json_is(out->process, JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "not an object");
    return spec_names_check(out->process, err) < 0 ? -1 : read_process(out, err);
}

static int read_mappings(const struct json *linux_object, const char *key, struct id_map *out,
                         struct err *err)
{
    struct json *list;

    if (member(linux_object, key, JSON_ARRAY, "linux.", &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *item = json_at(list, i);
        uint32_t inside = 0, outside = 0, count = 0;
        if (!json_is(item, JSON_OBJECT))
            return err_set(err, ERR_FORMAT, "linux.%s: an entry that is not an object", key);
        if (member_id(item, "containerID", "linux.idMappings.", &inside, err) < 0 ||
            member_id(item, "hostID", "linux.idMappings.", &outside, err) < 0 ||
            member_id(item, "size", "linux.idMappings.", &count, err) < 0 ||
            id_map_add(out, inside, outside, count, err) < 0)
            return -1;
    }
    return 0;
}

/* Reads whether the process gets a user namespace: *count, and the path of one that it joins. */
static int read_namespaces(struct spec *s, const struct json *linux_object, size_t *count,
                           struct err *err)
{
    struct json *list;

    *count = 0;
    if (member(linux_object, "namespaces", JSON_ARRAY, "linux.", &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *item = json_at(list, i);
        const char *type, *path;
        if (!json_is(item, JSON_OBJECT))
            return err_set(err, ERR_FORMAT, "linux.namespaces: an entry that is not an object");
        if (member_text(item, "type", "linux.namespaces[].", &type, err) < 0 ||
            member_text(item, "path", "linux.namespaces[].", &path, err) < 0)
            return -1;
        if (!type || strcmp(type, "user") != 0)
            continue;
        ++*count;
        if (path && *path)
            s->user_namespace = path;
    }
    return 0;
}

/*
 * Runtimes use the mappings only for a user namespace. One without mappings gets what the runtime
 * chooses; which of two is used depends on the runtime.
 */
static void settle_user_namespace(struct spec *s, size_t count)
{
    bool mapped = s->uid_map.count && s->gid_map.count;

    if (count != 1) {
        s->uid_map.count = 0;
        s->gid_map.count = 0;
    }
    if (count > 1)
        s->user_namespace = NULL;
    s->joins_user_namespace = count > 1 || s->user_namespace || (count == 1 && !mapped);
}

static int read_linux(struct spec *s, struct err *err)
{
    struct json *linux_object;
    size_t user_namespaces;

    if (member(s->root, "linux", JSON_OBJECT, "", &linux_object, err) < 0)
        return -1;
    if (read_mappings(linux_object, "uidMappings", &s->uid_map, err) < 0 ||
        read_mappings(linux_object, "gidMappings", &s->gid_map, err) < 0 ||
        read_namespaces(s, linux_object, &user_namespaces, err) < 0)
        return -1;
    settle_user_namespace(s, user_namespaces);
    return 0;
}

int spec_read(struct json_doc *doc, struct arena *arena, struct spec *out, struct err *err)
{
    *out = (struct spec){.root = json_root(doc)};
    if (!json_is(out->root, JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "not an object");
    if (spec_names_check(out->root, err) < 0 ||
        member(out->root, "annotations", JSON_OBJECT, "", &out->annotations, err) < 0 ||
        member_text(out->root, "hostname", "", &out->hostname, err) < 0 ||
        read_mounts(out, arena, err) < 0 ||
        member(out->root, "process", JSON_OBJECT, "", &out->process, err) < 0 ||
        (out->process && read_process(out, err) < 0))
        return -1;
    return read_linux(out, err);
}

/* ---- looking ---- */

const char *spec_annotation(const struct spec *spec, const char *key)
{
    return json_text(json_get(spec->annotations, key));
}

const char *spec_env(const struct spec *spec, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = json_count(spec->env); i > 0; i--) {
        const char *text = json_text(spec->env->items[i - 1]);
        if (text && strncmp(text, name, len) == 0 && text[len] == '=')
            return text + len + 1;
    }
    return NULL;
}

bool spec_is_idmapped(const struct json *mount)
{
    const struct json *options = json_get(mount, "options");

    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && (strncmp(text, "idmap", 5) == 0 || strncmp(text, "ridmap", 6) == 0))
            return true;
    }
    return json_count(json_get(mount, "uidMappings")) || json_count(json_get(mount, "gidMappings"));
}

bool spec_has_option(const struct json *options, const char *name)
{
    for (size_t i = 0; i < json_count(options); i++) {
        const char *text = json_text(json_at(options, i));
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

bool spec_take_group(struct json *process, uint32_t gid)
{
    struct json *list = json_path(process, "user", "additionalGids", NULL);
    uint64_t other;
    bool taken = false;

    for (size_t i = json_count(list); i > 0; i--)
        if (json_u64(json_at(list, i - 1), &other) && other == gid) {
            json_remove_at(list, i - 1);
            taken = true;
        }
    return taken;
}
