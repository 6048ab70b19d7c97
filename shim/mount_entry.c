#include "shim/mount_entry.h"

#include "base/path.h"
#include "shim/pin.h"

#include <string.h>

enum { FIXED_OPTIONS = 5, MEMBERS = 4 };

static bool has_option(const struct policy_list *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i], name) == 0)
            return true;
    return false;
}

/* What every volume has; NULL for what the policy takes back. */
static const char *fixed_option(const struct plan_op *op, size_t index)
{
    const struct policy_list *options = &op->volume->options;

    switch (index) {
    case 0:
        return "rbind";
    case 1:
        return op->access == ACCESS_RW ? "rw" : "ro";
    case 2:
        return "rprivate";
    case 3:
        return has_option(options, "suid") ? NULL : "nosuid";
    default:
        return has_option(options, "dev") ? NULL : "nodev";
    }
}

static bool is_repeated(const struct plan_op *op, size_t at)
{
    const struct policy_list *options = &op->volume->options;

    for (size_t i = 0; i < FIXED_OPTIONS; i++) {
        const char *fixed = fixed_option(op, i);
        if (fixed && strcmp(fixed, options->items[at]) == 0)
            return true;
    }
    for (size_t i = 0; i < at; i++)
        if (strcmp(options->items[i], options->items[at]) == 0)
            return true;
    return false;
}

const char *mount_entry_option(const struct plan_op *op, size_t index)
{
    const struct policy_list *options = &op->volume->options;

    for (size_t i = 0; i < FIXED_OPTIONS; i++)
        if (fixed_option(op, i) && index-- == 0)
            return fixed_option(op, i);
    for (size_t i = 0; i < options->count; i++)
        if (!is_repeated(op, i) && index-- == 0)
            return options->items[i];
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

bool mount_entry_is(const struct spec_mount *mount, const struct plan_op *op, const char *source)
{
    const struct json *options = json_get(mount->entry, "options");
    size_t count = json_count(options);

    if (json_count(mount->entry) != MEMBERS || !same_text(mount->type, "bind") ||
        !same_text(mount->source, source) ||
        !same_text(json_text(json_get(mount->entry, "destination")), op->target))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *expected = mount_entry_option(op, i);
        if (!expected || !same_text(json_text(json_at(options, i)), expected))
            return false;
    }
    return mount_entry_option(op, count) == NULL;
}

bool mount_entry_names_pin(const struct spec_mount *mount)
{
    _cleanup_buf_ struct buf path = BUF_INIT;
    struct err ignored = ERR_INIT;

    if (!mount->source)
        return false;
    if (mount->source[0] == '/') {
        buf_putc(&path, '/');
        if (path_clean(mount->source, strlen(mount->source), &path, &ignored) == 0)
            return path_is_beneath(path.data, PIN_FOLDER) ||
                   path_is_beneath(path.data, "/var" PIN_FOLDER);
    }
    return strstr(mount->source, "flatbed") != NULL; /* relative, or more ".." than folders */
}
