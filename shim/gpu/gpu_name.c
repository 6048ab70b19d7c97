#include "shim/gpu/gpu_name.h"

#include <string.h>
#include <strings.h>

enum { MOST_DIGITS = 5 };

/* Reads a number without sign or leading zeros. Returns the text behind it, or NULL. */
static const char *parse_number(const char *text, unsigned *out)
{
    size_t digits = strspn(text, "0123456789");

    if (!digits || digits > MOST_DIGITS || (digits > 1 && text[0] == '0'))
        return NULL;
    *out = 0;
    for (size_t i = 0; i < digits; i++)
        *out = *out * 10 + (unsigned)(text[i] - '0');
    return text + digits;
}

bool gpu_name_range(const char *text, unsigned *first, unsigned *last)
{
    const char *rest = parse_number(text, first);

    *last = *first;
    if (rest && *rest == '-')
        rest = parse_number(rest + 1, last);
    return rest && !*rest && *first <= *last;
}

/* True for "GPU-" or "MIG-", hexadecimal digits and "-", and for MIG also "GPU-…/1/0". */
static bool is_uuid(const char *text, const char *prefix, const char *letters)
{
    size_t len = strlen(prefix);

    return strncmp(text, prefix, len) == 0 && text[len] &&
           text[len + strspn(text + len, letters)] == '\0';
}

static enum gpu_name_kind kind_of(const char *text, unsigned *index)
{
    unsigned last, slice;
    const char *rest = parse_number(text, index);

    if (strcmp(text, "void") == 0)
        return GPU_NAME_NOTHING;
    if (strcmp(text, "none") == 0)
        return GPU_NAME_NONE;
    if (strcasecmp(text, "all") == 0) /* libnvidia-container ignores the case */
        return GPU_NAME_ALL;
    if (!strchr(text, '-') && gpu_name_range(text, index, &last))
        return GPU_NAME_INDEX;
    if (is_uuid(text, "GPU-", "0123456789abcdefABCDEF-"))
        return GPU_NAME_UUID;
    if (is_uuid(text, "MIG-", "0123456789abcdefABCDEFGPU-/"))
        return GPU_NAME_MIG;
    if (rest && *rest == ':' && (rest = parse_number(rest + 1, &slice)) && !*rest)
        return GPU_NAME_SLICE;
    return GPU_NAME_UNKNOWN;
}

bool gpu_name_parse(const char *text, size_t len, struct arena *arena, struct gpu_name *out)
{
    static const char *const kinds[] = {"nvidia.com/gpu=", "runtime.nvidia.com/gpu="};
    size_t skip = 0;

    *out = (struct gpu_name){.text = ""};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (len > strlen(kinds[i]) && strncmp(text, kinds[i], strlen(kinds[i])) == 0)
            skip = strlen(kinds[i]);
    const char *name = arena_strndup(arena, text + skip, len - skip);
    if (!name)
        return false;
    out->text = name;
    out->kind = strlen(name) == len - skip ? kind_of(name, &out->index) : GPU_NAME_UNKNOWN;
    /* As a device of a CDI specification these are names like any other. */
    if (skip && (out->kind == GPU_NAME_NOTHING || out->kind == GPU_NAME_NONE))
        out->kind = GPU_NAME_UNKNOWN;
    return true;
}
