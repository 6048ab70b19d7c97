#include "shim/request.h"

#include "base/path.h"
#include "shim/template.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

static const char prefix[] = "flatbed.";

struct reader {
    const struct policy *policy;
    struct arena *arena;
    struct requests *out;
    const char *key; /* the annotation at hand */
    struct err *err;
};

static int push(struct reader *r, struct request request)
{
    request.key = r->key;
    r->out->list[r->out->count++] = request;
    return 0;
}

__attribute__((format(printf, 2, 3))) static int problem(struct reader *r, const char *format, ...)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    char *copy = text.data ? arena_strndup(r->arena, text.data, text.len) : NULL;
    if (!copy)
        return err_nomem(r->err);
    return push(r, (struct request){.problem = copy});
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

/* ---- one annotation ---- */

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

/* "NAME[:ro|:rw][:TARGET]", NUL-terminated, in the arena. */
static int read_item(struct reader *r, const struct policy_volume *volume, char *item)
{
    struct request request = {.volume = volume, .name = item};
    char *colon = strchr(item, ':');
    const char *rest = NULL;

    if (colon) {
        *colon = '\0';
        rest = colon + 1;
    }
    if (!template_name_valid(item, strlen(item)))
        return problem(r, "'%.80s' is not a name: letters, digits and ._- only", item);
    if (rest) {
        bool says = take_access(&rest, &request);
        if (*rest)
            request.target = rest;
        else if (!says)
            return problem(r, "'%.80s:' lacks what comes behind the colon", item);
    }
    if (request.target) {
        const char *why = request_target_problem(request.target);
        if (why)
            return problem(r, "the target '%.200s' of '%.80s' %s", request.target, item, why);
    }
    return push(r, request);
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        text[--len] = '\0';
    return text;
}

static int read_list(struct reader *r, const struct policy_volume *volume, char *value)
{
    size_t names = 0;

    if (!*trim(value))
        return 0; /* asks for nothing */
    for (char *next = value; next;) {
        char *item = next, *comma = strchr(next, ',');
        if (comma)
            *comma = '\0';
        next = comma ? comma + 1 : NULL;
        if (++names > REQUEST_NAMES)
            return problem(r, "more than %d names", REQUEST_NAMES);
        if (r->out->count >= REQUESTS_IN_ALL)
            return problem(r, "more than %d requests", REQUESTS_IN_ALL);
        if (read_item(r, volume, trim(item)) < 0)
            return -1;
    }
    return 0;
}

/* ---- which annotation ---- */

static bool names_identity(const struct policy *policy, const char *key)
{
    static const char rule[] = "annotation:";

    for (size_t i = 0; i < policy->identity.count; i++) {
        const char *item = policy->identity.items[i];
        if (strncmp(item, rule, sizeof(rule) - 1) == 0 && strcmp(item + sizeof(rule) - 1, key) == 0)
            return true;
    }
    return false;
}

static bool belongs_to_later_version(const char *name)
{
    static const char *const words[] = {"profile", "shm", "memlock", "workers", "idmap", "off"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static int unknown_class(struct reader *r, const char *name)
{
    _cleanup_buf_ struct buf list = BUF_INIT;

    for (size_t i = 0; i < r->policy->volume_count; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", r->policy->volumes[i].name);
    return problem(r, "there are no volumes called '%.80s' here; there are: %s", name,
                   list.len ? list.data : "none");
}

static int read_project(struct reader *r, const char *value)
{
    if (!template_name_valid(value, strlen(value)))
        return problem(r, "'%.80s' is not a name: letters, digits and ._- only", value);
    r->out->project = value;
    return 0;
}

static int read_annotation(struct reader *r, const struct json_member *m)
{
    const char *name = m->key + sizeof(prefix) - 1;
    const char *value = json_text(m->value);

    r->key = m->key;
    if (names_identity(r->policy, m->key))
        return 0;
    if (!value || strlen(m->key) != m->key_len)
        return problem(r, "not a plain string");
    if (m->value->len > REQUEST_VALUE_BYTES)
        return problem(r, "longer than %d bytes", REQUEST_VALUE_BYTES);
    if (strcmp(name, "project") == 0)
        return read_project(r, value);
    if (belongs_to_later_version(name))
        return problem(r, "not implemented in this version");
    const struct policy_volume *volume = policy_volume_find(r->policy, name, strlen(name));
    if (!volume)
        return unknown_class(r, name);
    char *copy = arena_strndup(r->arena, value, m->value->len);
    return copy ? read_list(r, volume, copy) : err_nomem(r->err);
}

/* A bound on what the list may have to hold: each annotation adds one problem at most. */
static size_t most_requests(const struct json *annotations)
{
    return REQUESTS_IN_ALL + json_count(annotations) + 1;
}

int requests_read(const struct policy *policy, const struct json *annotations, struct arena *arena,
                  struct requests *out, struct err *err)
{
    struct reader r = {.policy = policy, .arena = arena, .out = out, .err = err};

    *out = (struct requests){0};
    if (!policy->listens_to_annotations || json_count(annotations) == 0)
        return 0;
    out->list = arena_alloc(arena, most_requests(annotations) * sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    for (size_t i = 0; i < annotations->len; i++) {
        const struct json_member *m = &annotations->members[i];
        if (m->key_len < sizeof(prefix) - 1 || memcmp(m->key, prefix, sizeof(prefix) - 1) != 0)
            continue;
        if (read_annotation(&r, m) < 0)
            return -1;
    }
    return 0;
}
