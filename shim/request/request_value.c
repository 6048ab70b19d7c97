#include "shim/request/request_value.h"

#include "base/path.h"
#include "base/size.h"
#include "shim/policy/template.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

static int list_push(struct requests *out, struct request request, struct arena *arena,
                     struct err *err)
{
    struct request *list = arena_extend(arena, out->list, out->count, sizeof(*list));

    if (!list)
        return err_nomem(err);
    out->list = list;
    out->list[out->count++] = request;
    return 0;
}

int request_push(struct request_reader *r, struct request request)
{
    request.key = r->key;
    return list_push(r->out, request, r->arena, r->err);
}

int requests_deny(struct requests *requests, const char *key, const char *problem,
                  struct arena *arena, struct err *err)
{
    return list_push(requests, (struct request){.key = key, .problem = problem}, arena, err);
}

int request_problem(struct request_reader *r, const char *format, ...)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    char *copy = text.data ? arena_strndup(r->arena, text.data, text.len) : NULL;
    if (!copy)
        return err_nomem(r->err);
    r->problems++;
    return request_push(r, (struct request){.problem = copy});
}

/* ---- targets ---- */

const char *request_target_problem(const char *target)
{
    static const char *const system_paths[] = {
        "/proc",      "/sys",        "/dev",         "/etc",     "/boot",
        "/bin",       "/sbin",       "/lib",         "/lib32",   "/lib64",
        "/libx32",    "/usr/bin",    "/usr/sbin",    "/usr/lib", "/usr/lib32",
        "/usr/lib64", "/usr/libx32", "/usr/libexec", "/run",     "/var/run",
    };

    if (strlen(target) >= PATH_MAX || !path_is_clean_absolute(target))
        return "is not a clean absolute path";
    for (const char *p = target; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return "has control characters";
    for (size_t i = 0; i < sizeof(system_paths) / sizeof(*system_paths); i++)
        if (path_is_beneath(target, system_paths[i]) || path_is_beneath(system_paths[i], target))
            return "is a place of the system";
    return NULL;
}

/* ---- "NAME[:ro|:rw][:TARGET],…" ---- */

static bool take_access(const char **rest, struct request *request)
{
    const char *p = *rest;

    if ((strncmp(p, "ro", 2) != 0 && strncmp(p, "rw", 2) != 0) || (p[2] && p[2] != ':'))
        return false;
    request->says_access = true;
    request->access = p[1] == 'w' ? ACCESS_RW : ACCESS_RO;
    *rest = p[2] ? p + 3 : p + 2;
    return true;
}

int request_bad_name(struct request_reader *r, const char *name)
{
    return request_problem(r, "'%.80s' is not a name: letters, digits and ._- only%s", name,
                           strchr(name, '/') ? "; the policy knows the path" : "");
}

/* Reads one item of the list, NUL-terminated, in the arena. */
static int read_item(struct request_reader *r, const struct policy_volume *volume, char *item)
{
    struct request request = {.volume = volume, .name = item};
    char *colon = strchr(item, ':');
    const char *rest = NULL;

    if (colon) {
        *colon = '\0';
        rest = colon + 1;
    }
    if (!template_name_valid(item, strlen(item)))
        return request_bad_name(r, item);
    if (rest) {
        bool says = take_access(&rest, &request);
        if (*rest)
            request.target = rest;
        else if (!says)
            return request_problem(r, "'%.80s:' lacks what comes behind the colon", item);
    }
    if (request.target) {
        const char *why = request_target_problem(request.target);
        if (why)
            return request_problem(r, "the target '%.200s' of '%.80s' %s: choose another",
                                   request.target, item, why);
    }
    return request_push(r, request);
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        text[--len] = '\0';
    return text;
}

int request_list(struct request_reader *r, const struct policy_volume *volume, const char *text)
{
    char *value = arena_strndup(r->arena, text, strlen(text));
    size_t names = 0;

    if (!value)
        return err_nomem(r->err);
    if (!*trim(value))
        return 0; /* asks for nothing */
    for (char *next = value; next;) {
        char *item = next, *comma = strchr(next, ',');
        if (comma)
            *comma = '\0';
        next = comma ? comma + 1 : NULL;
        if (++names > REQUEST_NAMES)
            return request_problem(r, "more than %d names", REQUEST_NAMES);
        if (r->out->count >= REQUESTS_IN_ALL)
            return request_problem(r, "more than %d requests", REQUESTS_IN_ALL);
        if (read_item(r, volume, trim(item)) < 0)
            return -1;
    }
    return 0;
}

/* ---- "mounts,tuning" ---- */

static int opt_out_problem(struct request_reader *r, const char *word)
{
    _cleanup_buf_ struct buf offered = BUF_INIT;

    for (size_t i = 0; i < POLICY_OPT_OUTS; i++)
        if (r->policy->opt_out & 1u << i)
            buf_printf(&offered, "%s%s", offered.len ? ", " : "", policy_opt_out_names[i]);
    return request_problem(r, "'%.80s' cannot be switched off here; what can be: %s", word,
                           offered.len ? offered.data : "nothing");
}

int request_off(struct request_reader *r, const char *text)
{
    char *value = arena_strndup(r->arena, text, strlen(text));

    if (!value)
        return err_nomem(r->err);
    for (char *next = value; next;) {
        char *comma = strchr(next, ',');
        if (comma)
            *comma = '\0';
        const char *word = trim(next);
        size_t i = 0;
        while (i < POLICY_OPT_OUTS && strcmp(word, policy_opt_out_names[i]) != 0)
            i++;
        if (i == POLICY_OPT_OUTS || !(r->policy->opt_out & 1u << i))
            return opt_out_problem(r, word);
        r->out->off |= 1u << i;
        next = comma ? comma + 1 : NULL;
    }
    return 0;
}

/* ---- sizes and numbers of "tuning" ---- */

const char *const request_tuning_names[TUNING_ASKABLE] = {
    [TUNING_SHM] = "shm",
    [TUNING_MEMLOCK] = "memlock",
    [TUNING_WORKERS] = "workers",
};

static bool read_amount(enum tuning_kind kind, const char *text, uint64_t *out)
{
    if (kind == TUNING_MEMLOCK && strcmp(text, "unlimited") == 0) {
        *out = SIZE_UNLIMITED;
        return true;
    }
    bool plain = text[strspn(text, "0123456789")] == '\0';
    return (plain || kind != TUNING_WORKERS) && size_parse(text, out) && *out;
}

int request_tuning(struct request_reader *r, enum tuning_kind kind, const char *text)
{
    static const char *const expected[TUNING_ASKABLE] = {
        [TUNING_SHM] = "a size such as 8g",
        [TUNING_MEMLOCK] = "a size such as 512m, or unlimited",
        [TUNING_WORKERS] = "a number such as 4",
    };
    const struct policy_tune *tune = &r->policy->tuning.of[kind];
    uint64_t amount;

    if (!read_amount(kind, text, &amount))
        return request_problem(r, "'%.40s': expected %s", text, expected[kind]);
    if (!tune->value.given && !tune->most.given)
        return request_problem(r, "it may not be asked for here: the policy has no tuning.%s",
                               policy_tuning_names[kind]);
    if (r->out->tuning[kind].key && r->out->tuning[kind].amount != amount)
        return request_problem(r, "another amount was asked for before: ask for one");
    r->out->tuning[kind] = (struct tuning_request){.key = r->key, .amount = amount};
    return 0;
}
