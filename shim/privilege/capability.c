#include "shim/privilege/capability.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/capability.h>

uint64_t capability_bit(const char *name)
{
    char text[64];
    cap_value_t value;

    if (strncasecmp(name, "cap_", 4) == 0)
        name += 4;
    /* libcap, and so crun, takes a number as well */
    int len =
        snprintf(text, sizeof(text), "%s%s", *name >= '0' && *name <= '9' ? "" : "cap_", name);
    if (len < 0 || (size_t)len >= sizeof(text) || cap_from_name(text, &value) < 0 || value < 0 ||
        value > 63)
        return 0;
    return (uint64_t)1 << value;
}

static const char *const lists[] = {"bounding", "effective", "permitted", "inheritable", "ambient"};

enum { LISTS = sizeof(lists) / sizeof(*lists) };

uint64_t capability_list(const struct json *process, const char *list)
{
    const struct json *names = json_path(process, "capabilities", list, NULL);
    uint64_t set = 0;

    for (size_t i = 0; i < json_count(names); i++) {
        const char *name = json_text(json_at(names, i));
        set |= name ? capability_bit(name) : 0;
    }
    return set;
}

void capability_keep(const struct json *process, uint64_t kept)
{
    for (size_t l = 0; l < LISTS; l++) {
        struct json *names = json_path(process, "capabilities", lists[l], NULL);
        for (size_t i = json_count(names); i > 0; i--) {
            const char *name = json_text(json_at(names, i - 1));
            if (name && !(capability_bit(name) & kept))
                json_remove_at(names, i - 1);
        }
    }
}

static void put_once(struct buf *out, const char *name)
{
    const char *sep = out->len ? " " : "";
    _cleanup_free_ char *word = strf(" %s ", name);
    _cleanup_free_ char *all = out->len ? strf(" %s ", out->data) : NULL;

    if (!word || !(all && strstr(all, word)))
        buf_printf(out, "%s%.40s", sep, name);
}

void capability_beyond(const struct json *process, uint64_t kept, struct buf *out)
{
    for (size_t l = 0; l < LISTS; l++) {
        const struct json *names = json_path(process, "capabilities", lists[l], NULL);
        for (size_t i = 0; i < json_count(names); i++) {
            const char *name = json_text(json_at(names, i));
            if (name && !(capability_bit(name) & kept))
                put_once(out, name);
        }
    }
}
