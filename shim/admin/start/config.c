#include "shim/admin/start/config.h"

#include "base/fdio.h"
#include "shim/admin/start/place.h"

#include <fcntl.h>
#include <string.h>

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * container.json, made by cmake/Embed.cmake. The author of an image is not trusted: the filter
 * forbids what Docker's forbids, new namespaces one flag a rule, and clone3, whose flags no filter
 * sees, with ENOSYS, after which the C library calls clone. The capabilities are those of Docker
 * (moby, oci/caps/defaults.go) without those for nodes, raw packets, audit records and other
 * capabilities.
 */
extern const char start_container[];

static const struct json *image_config(const struct start_options *o)
{
    return o->image->config;
}

static void add_texts(struct json_doc *doc, struct json *to, const struct json *from)
{
    for (size_t i = 0; i < json_count(from); i++)
        if (json_is(json_at(from, i), JSON_STRING))
            json_append(doc, to, json_copy(doc, json_at(from, i)));
}

static void set_args(struct json_doc *doc, struct json *process, const struct start_options *o)
{
    struct json *args = json_list(doc, process, "args");

    add_texts(doc, args, json_get(image_config(o), "Entrypoint"));
    for (size_t i = 0; i < o->words; i++)
        json_append(doc, args, json_string(doc, o->command[i]));
}

/* Returns the place of a variable in a list of "NAME=VALUE", or the length of the list. */
static size_t find_variable(const struct json *env, const char *name)
{
    size_t len = strlen(name), i = 0;

    for (; i < json_count(env); i++) {
        const char *text = json_text(json_at(env, i));
        if (text && strncmp(text, name, len) == 0 && text[len] == '=')
            break;
    }
    return i;
}

static int set_variable(struct json_doc *doc, struct json *env, const struct start_volume *v,
                        struct err *err)
{
    _cleanup_free_ char *text = strf("%s=%s", v->variable, v->target);
    size_t at = find_variable(env, v->variable);

    if (!text)
        return err_nomem(err);
    if (at < json_count(env))
        json_replace_at(doc, env, at, json_string(doc, text));
    else
        json_append(doc, env, json_string(doc, text));
    return 0;
}

static int set_environment(struct json_doc *doc, struct json *process,
                           const struct start_options *o, bool volumes, struct err *err)
{
    struct json *env = json_list(doc, process, "env");

    add_texts(doc, env, json_get(image_config(o), "Env"));
    if (find_variable(env, "PATH") == json_count(env))
        json_append(doc, env, json_string(doc, DEFAULT_PATH));
    for (size_t i = 0; volumes && i < o->volume_count; i++)
        if (o->volumes[i].variable && set_variable(doc, env, &o->volumes[i], err) < 0)
            return -1;
    return 0;
}

/* Root has the capabilities of the frame; others have none. */
static void set_user(struct json_doc *doc, struct json *process, const struct image_user *user)
{
    static const char *const sets[] = {"effective", "permitted"};
    struct json *object = json_get(process, "user");
    struct json *capabilities = json_get(process, "capabilities");

    json_set(doc, object, "uid", json_number(doc, user->uid));
    json_set(doc, object, "gid", json_number(doc, user->gid));
    for (size_t i = 0; user->uid == 0 && i < sizeof(sets) / sizeof(*sets); i++)
        json_set(doc, capabilities, sets[i], json_copy(doc, json_get(capabilities, "bounding")));
}

static void add_volumes(struct json_doc *doc, const struct start_options *o)
{
    struct json *mounts = json_list(doc, json_root(doc), "mounts");

    for (size_t i = 0; i < o->volume_count; i++) {
        const struct start_volume *v = &o->volumes[i];
        struct json *one = json_append(doc, mounts, json_object(doc));
        json_set(doc, one, "destination", json_string(doc, v->target));
        json_set(doc, one, "type", json_string(doc, "bind"));
        json_set(doc, one, "source", json_string(doc, v->source));
        struct json *options = json_list(doc, one, "options");
        json_append(doc, options, json_string(doc, "rbind"));
        json_append(doc, options, json_string(doc, v->write ? "rw" : "ro"));
    }
}

int start_config_put(const struct start_options *options, const struct image_user *user,
                     bool volumes, struct buf *out, struct err *err)
{
    _cleanup_json_ struct json_doc *doc =
        json_parse(start_container, strlen(start_container), NULL, err);
    const char *cwd = json_text(json_get(image_config(options), "WorkingDir"));

    if (!doc)
        return -1;
    struct json *process = json_get(json_root(doc), "process");
    set_args(doc, process, options);
    set_user(doc, process, user);
    if (cwd && cwd[0] == '/')
        json_set(doc, process, "cwd", json_string(doc, cwd));
    if (set_environment(doc, process, options, volumes, err) < 0)
        return -1;
    if (volumes)
        add_volumes(doc, options);
    return json_write(doc, out, err);
}

int start_config_write(const struct start_options *options, bool volumes, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    const char *name = json_text(json_get(image_config(options), "User"));
    struct image_user user;

    if (image_user_find(START_ROOTFS, name ? name : "", &user, err) < 0 ||
        start_config_put(options, &user, volumes, &text, err) < 0)
        return -1;
    _cleanup_fd_ int fd = open("config.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, "config.json");
    return fd_write_all(fd, text.data, text.len, err);
}
