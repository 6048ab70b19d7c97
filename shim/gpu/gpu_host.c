#include "shim/gpu/gpu_host.h"

#include <string.h>
#include <strings.h>

/* ---- /proc/devices ---- */

/* Returns the major number of that name in the list of character devices, or -1. */
static int64_t find_major(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        char *end;
        line += *line == '\n';
        if (strncmp(line, "Block", strlen("Block")) == 0)
            return -1;
        unsigned long major = strtoul(line, &end, 10);
        if (end != line && *end == ' ' && strncmp(end + 1, name, len) == 0 &&
            (end[1 + len] == '\n' || end[1 + len] == '\0'))
            return (int64_t)major;
    }
    return -1;
}

void gpu_host_parse_majors(const char *text, struct gpu_host *host)
{
    host->uvm = find_major(text, "nvidia-uvm");
    host->caps = find_major(text, "nvidia-caps");
}

/* ---- information ---- */

/* Returns the value behind "KEY:" at the beginning of a line, or NULL. */
static const char *find_value(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ':')
            return line + len + 1 + strspn(line + len + 1, " \t");
    }
    return NULL;
}

bool gpu_host_parse_card(const char *text, struct arena *arena, struct gpu_card *out)
{
    const char *uuid = find_value(text, "GPU UUID"), *minor = find_value(text, "Device Minor");
    char *end;

    if (!minor || *minor < '0' || *minor > '9')
        return false;
    unsigned long number = strtoul(minor, &end, 10);
    if (number > GPU_MINOR_MOST)
        return false;
    out->minor = (unsigned)number;
    out->uuid = uuid && strncmp(uuid, "GPU-", 4) == 0
                    ? arena_strndup(arena, uuid, strcspn(uuid, " \t\n"))
                    : NULL;
    if (!out->uuid ||
        strchr(out->uuid, '?')) /* the driver writes "GPU-????????-…" until it knows */
        out->uuid = "";
    return true;
}

/* ---- looking ---- */

bool gpu_host_owns(const struct gpu_host *host, bool block, int64_t major)
{
    return !block && major >= 0 &&
           (major == GPU_MAJOR || major == host->uvm || major == host->caps);
}

const struct gpu_card *gpu_host_card(const struct gpu_host *host, unsigned minor)
{
    for (size_t i = 0; i < host->card_count; i++)
        if (host->cards[i].minor == minor)
            return &host->cards[i];
    return NULL;
}

const struct gpu_right *gpu_host_right(const struct gpu_host *host, unsigned minor)
{
    for (size_t i = 0; i < host->right_count; i++)
        if (host->rights[i].minor == minor)
            return &host->rights[i];
    return NULL;
}

int64_t gpu_host_index(const struct gpu_host *host, unsigned minor)
{
    const struct gpu_card *card = gpu_host_card(host, minor);

    if (!host->card_count)
        return minor;
    return card ? card - host->cards : -1;
}

const struct gpu_card *gpu_host_by_uuid(const struct gpu_host *host, const char *text)
{
    const struct gpu_card *found = NULL;

    for (size_t i = 0; i < host->card_count; i++) {
        if (strncasecmp(host->cards[i].uuid, text, strlen(text)) != 0)
            continue;
        if (found)
            return NULL;
        found = &host->cards[i];
    }
    return found;
}
