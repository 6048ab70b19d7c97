/* Docker's daemon.json. */
#include "shim/admin/install/install.h"

#include "base/json/json.h"
#include "shim/admin/install/json_text.h"

#include <string.h>

bool install_name_valid(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    static const char *const taken[] = {"runc", "crun", "kata", "runsc", "default", "untrusted"};

    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
        if (strcmp(taken[i], name) == 0)
            return false;
    return *name && strlen(name) <= 63 && name[0] != '-' && !name[strspn(name, plain)];
}

static bool is_blank(const struct buf *text)
{
    return !text->len || strspn(text->data, " \t\r\n") == text->len;
}

static struct json_doc *parse(const struct buf *text, struct err *err)
{
    static const struct json_options options = {.unique_keys = true};

    struct json_doc *doc = json_parse(text->data, text->len, &options, err);
    if (doc && !json_is(json_root(doc), JSON_OBJECT)) {
        json_free(doc);
        err_set(err, ERR_FORMAT, "not a JSON object");
        return NULL;
    }
    return doc;
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Fails if the name belongs to a runtime that flatbed did not add. */
static int check_entry(const struct install *in, const struct json *entry, struct err *err)
{
    const char *path = json_text(json_get(entry, "path"));

    if (!entry || (path && strcmp(file_of(path), file_of(in->runtime)) == 0))
        return 0;
    return err_set(err, ERR_FORMAT, "\"runtimes\" has another '%s'%s%s; choose another --name",
                   in->name, path ? ": " : "", path ? path : "");
}

static int put(struct buf *text, const char *const *path, size_t depth, const char *value,
               struct err *err)
{
    _cleanup_buf_ struct buf quoted = BUF_INIT;

    json_quote(&quoted, value, strlen(value));
    if (buf_check(&quoted, err) < 0)
        return -1;
    return json_text_set(text, path, depth, quoted.data, err);
}

int install_docker(const struct install *in, const struct buf *before, struct buf *after,
                   struct err *err)
{
    const char *const entry[] = {"runtimes", in->name, "path"};
    const char *const fallback[] = {"default-runtime"};

    if (is_blank(before))
        buf_puts(after, "{}\n");
    else
        buf_append(after, before->data, before->len);
    if (buf_check(after, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = parse(after, err);
    if (!doc || check_entry(in, json_path(json_root(doc), "runtimes", in->name, NULL), err) < 0 ||
        put(after, entry, 3, in->runtime, err) < 0)
        return -1;
    return in->make_default ? put(after, fallback, 1, in->name, err) : 0;
}

/* ---- and back ---- */

/*
 * Returns true if the text is exactly the backup with the runtime installed: it was not changed
 * since.
 */
static bool comes_from(const struct install *in, const char *runtime, const struct buf *backup,
                       const struct buf *text)
{
    for (int i = 0; i < 2; i++) {
        struct install then = {.name = in->name, .runtime = runtime, .make_default = i};
        _cleanup_buf_ struct buf made = BUF_INIT;
        struct err ignored;
        if (install_docker(&then, backup, &made, &ignored) == 0 && buf_equal(&made, text))
            return true;
    }
    return false;
}

/* Returns the default from before, or NULL. */
static const char *old_default(const struct install *in, struct json_doc *old)
{
    const char *name = old ? json_text(json_get(json_root(old), "default-runtime")) : NULL;

    return name && strcmp(name, in->name) != 0 ? name : NULL;
}

bool install_docker_outdated(const struct install *in, const struct buf *before,
                             const struct buf *backup)
{
    struct err ignored;
    _cleanup_json_ struct json_doc *now = is_blank(before) ? NULL : parse(before, &ignored);
    _cleanup_json_ struct json_doc *old = is_blank(backup) ? NULL : parse(backup, &ignored);
    const char *name = now ? json_text(json_get(json_root(now), "default-runtime")) : NULL;
    const char *was = old_default(in, old);

    if (!in->make_default || (name && strcmp(name, in->name) == 0))
        return false;
    return name && was ? strcmp(name, was) != 0 : name != was;
}

static int take_out(const struct install *in, struct json_doc *doc, struct json_doc *old,
                    struct buf *after, struct err *err)
{
    const char *const entry[] = {"runtimes", in->name}, *const fallback[] = {"default-runtime"};
    const char *now = json_text(json_get(json_root(doc), "default-runtime"));
    const char *was = old_default(in, old);

    if (now && strcmp(now, in->name) == 0) {
        int rc =
            was ? put(after, fallback, 1, was, err) : json_text_remove(after, fallback, 1, err);
        if (rc < 0)
            return -1;
    }
    bool last = json_count(json_get(json_root(doc), "runtimes")) == 1;
    return json_text_remove(after, entry, last ? 1 : 2, err);
}

int install_docker_undo(const struct install *in, const struct buf *before,
                        const struct buf *backup, struct buf *after, struct err *err)
{
    _cleanup_json_ struct json_doc *old = NULL;

    buf_append(after, before->data, before->len);
    if (is_blank(before))
        return buf_check(after, err);
    _cleanup_json_ struct json_doc *doc = parse(before, err);
    if (!doc)
        return -1;
    const struct json *entry = json_path(json_root(doc), "runtimes", in->name, NULL);
    if (!entry)
        return buf_check(after, err);
    const char *runtime = json_text(json_get(entry, "path"));
    if (check_entry(in, entry, err) < 0)
        return -1;
    struct err ignored;
    if (backup && !is_blank(backup))
        old = parse(backup, &ignored);
    bool had = old && json_path(json_root(old), "runtimes", in->name, NULL);
    if (backup && !had && comes_from(in, runtime, backup, before)) {
        buf_truncate(after, 0);
        buf_append(after, backup->data, backup->len);
        return buf_check(after, err);
    }
    if (take_out(in, doc, old, after, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *left = parse(after, err);
    if (left && !backup && json_count(json_root(left)) == 0)
        buf_truncate(after, 0);
    return left ? buf_check(after, err) : -1;
}
