#include "shim/admin/stale/judge.h"

#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 64, BUILDKIT_DIGITS = 25, HOUR = 3600, DAY = 24 * HOUR, MOST_DAYS = 36500 };
enum { NAMES_MEMORY = 32 * 1024 * 1024 };

const char *const stale_engine_names[] = {"docker", "podman", "flatbed"};
const char *const stale_kind_names[] = {"layer",  "remains", "tree",
                                        "folder", "staged",  "unfinished"};

/* ---- names ---- */

void known_add(struct known *known, const char *name, size_t len)
{
    known->arena.limit = NAMES_MEMORY;
    const char *copy = arena_strndup(&known->arena, name, len);
    const char **grown = arena_extend(&known->arena, known->list, known->count, sizeof(*grown));

    if (!copy || !grown) {
        known->failed = true;
        return;
    }
    known->list = grown;
    grown[known->count++] = copy;
    known->sorted = false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool known_has(struct known *known, const char *name)
{
    if (known->count == 0)
        return false;
    if (!known->sorted)
        qsort(known->list, known->count, sizeof(*known->list), by_name);
    known->sorted = true;
    return bsearch(&name, known->list, known->count, sizeof(*known->list), by_name) != NULL;
}

void known_free(struct known *known)
{
    arena_free(&known->arena);
    *known = (struct known){0};
}

bool stale_is_layer(enum stale_engine engine, const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");

    if (digits == ID_DIGITS &&
        (!name[digits] || (engine == STALE_DOCKER && strcmp(name + digits, "-init") == 0)))
        return true;
    return engine == STALE_DOCKER && strlen(name) == BUILDKIT_DIGITS &&
           strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz") == BUILDKIT_DIGITS;
}

bool stale_is_remains(enum stale_engine engine, const char *name)
{
    size_t len = strlen(STALE_PREFIX);

    return strncmp(name, STALE_PREFIX, len) == 0 && stale_is_layer(engine, name + len);
}

bool stale_link_target(const char *target, const char **name, size_t *len)
{
    if (strncmp(target, "../", 3) != 0)
        return false;
    *name = target + 3;
    *len = strcspn(*name, "/");
    return *len > 0 && strcmp(*name + *len, "/diff") == 0;
}

/* ---- judging ---- */

const char *stale_judge(enum stale_engine engine, const struct stale_facts *facts)
{
    if (facts->known || facts->cached || facts->mounted)
        return NULL;
    return engine == STALE_DOCKER
               ? "no layer of an image, no container and no build cache of Docker names it"
               : "neither layers.json, images.json nor containers.json names it";
}

const char *stale_refuse(const struct stale_limits *limits, int64_t changed, bool alone)
{
    if (limits->now - changed < limits->older)
        return "it changed too recently";
    if (!alone && limits->now - changed < DAY)
        return "Docker runs and may be making it; only directories older than a day are removed";
    return NULL;
}

bool stale_duration(const char *text, int64_t *seconds)
{
    size_t digits = strspn(text, "0123456789");
    int64_t number = digits && digits < 7 ? strtol(text, NULL, 10) : -1;

    if (number < 0 || (text[digits] && text[digits + 1]))
        return false;
    switch (text[digits]) {
    case '\0':
    case 'd':
        *seconds = number * DAY;
        break;
    case 'h':
        *seconds = number * HOUR;
        break;
    default:
        return false;
    }
    return *seconds <= (int64_t)MOST_DAYS * DAY;
}
