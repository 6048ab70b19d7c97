#include "shim/gather/security/hooks.h"

#include "base/glob.h"
#include "base/path.h"
#include "shim/cdi/cdi.h"
#include "shim/host/trust.h"
#include "shim/mount/source.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one hook ---- */

static bool is_known_member(const char *key)
{
    static const char *const known[] = {"path", "args", "env", "timeout"};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(key, known[i]) == 0)
            return true;
    return false;
}

static bool has_only_texts(const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (!json_text(json_at(list, i)))
            return false;
    return true;
}

/* True for a PATH of directories that only root writes to on each host. */
static bool is_standard_path(const char *path)
{
    static const char *const standard[] = {
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/snap/bin"};

    for (;;) {
        size_t len = strcspn(path, ":"), i = 0;
        while (i < sizeof(standard) / sizeof(*standard) &&
               (strlen(standard[i]) != len || strncmp(path, standard[i], len) != 0))
            i++;
        if (i == sizeof(standard) / sizeof(*standard))
            return false;
        if (!path[len])
            return true;
        path += len + 1;
    }
}

/* Returns the reason why a variable makes another program of a hook, or NULL. */
static const char *variable_problem(const char *text)
{
    if (strncmp(text, "LD_", 3) == 0)
        return "its environment names libraries (LD_*)";
    if (strncmp(text, "GCONV_PATH=", 11) == 0 || strncmp(text, "XDG_CONFIG_", 11) == 0)
        return "its environment names directories (GCONV_PATH, XDG_CONFIG_*)";
    if (strncmp(text, "PATH=", 5) == 0 && !is_standard_path(text + 5))
        return "the PATH of its environment has other directories than those of the system";
    return NULL;
}

const char *hook_read(const struct json *entry, struct hook *out)
{
    *out = (struct hook){.path = json_text(json_get(entry, "path")),
                         .args = json_get(entry, "args"),
                         .env = json_get(entry, "env")};
    if (!json_is(entry, JSON_OBJECT) || !out->path || !path_is_clean_absolute(out->path))
        return "its path is not clean and absolute";
    for (size_t i = 0; i < json_count(entry); i++)
        if (!is_known_member(entry->members[i].key) ||
            strlen(entry->members[i].key) != entry->members[i].key_len)
            return "it has unknown members";
    if ((out->args && !json_is(out->args, JSON_ARRAY)) ||
        (out->env && !json_is(out->env, JSON_ARRAY)) || !has_only_texts(out->args) ||
        !has_only_texts(out->env))
        return "its args or env is not a list of texts";
    for (size_t i = 0; i < json_count(out->env); i++) {
        const char *problem = variable_problem(json_text(json_at(out->env, i)));
        if (problem)
            return problem;
    }
    return NULL;
}

/* ---- known hooks ---- */

static const char *arg(const struct hook *hook, size_t i)
{
    const char *text = json_text(json_at(hook->args, i));

    return text ? text : "";
}

/* True for the name of a program, as the first argument or as the last part of the path. */
static bool is_program(const struct hook *hook, const char *name)
{
    return strcmp(strrchr(hook->path, '/') + 1, name) == 0;
}

static bool is_hex(const char *text)
{
    return *text && text[strspn(text, "0123456789abcdef")] == '\0';
}

bool hook_is_dockers(const struct hook *hook)
{
    static const char prefix[] = "/proc/", option[] = "-exec-root=/";
    const char *pid = hook->path + strlen(prefix);

    if (strncmp(hook->path, prefix, strlen(prefix)) != 0)
        return false;
    size_t digits = strspn(pid, "0123456789");
    return digits && strcmp(pid + digits, "/exe") == 0 && json_count(hook->args) == 4 &&
           strcmp(arg(hook, 0), "libnetwork-setkey") == 0 &&
           strncmp(arg(hook, 1), option, strlen(option)) == 0 && is_hex(arg(hook, 2)) &&
           is_hex(arg(hook, 3));
}

static bool is_nerdctls(const struct hook *hook)
{
    size_t count = json_count(hook->args);

    return is_program(hook, "nerdctl") && count >= 4 &&
           strcmp(arg(hook, count - 3), "internal") == 0 &&
           strcmp(arg(hook, count - 2), "oci-hook") == 0;
}

/* True for a subcommand that makes links and settings in a container. */
static bool is_cdi_subcommand(const char *name)
{
    static const char *const names[] = {
        "create-symlinks",    "create-soname-symlinks",           "update-ldcache",
        "enable-cuda-compat", "disable-device-node-modification", "chmod"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* True for the hook that flatbed-runtime puts in, which only looks (shim/apply). */
static bool is_own(const struct hook *hook)
{
    return is_program(hook, "flatbed-runtime") &&
           strcmp(arg(hook, 1), "--flatbed-check-mounts") == 0;
}

bool hook_is_known(const struct hook *hook)
{
    if (is_nerdctls(hook) || is_own(hook))
        return true;
    if (is_program(hook, "nvidia-container-runtime-hook") ||
        is_program(hook, "nvidia-container-toolkit"))
        return json_count(hook->args) == 2 && strcmp(arg(hook, 1), "prestart") == 0;
    if (is_program(hook, "nvidia-ctk"))
        return strcmp(arg(hook, 1), "hook") == 0 && is_cdi_subcommand(arg(hook, 2));
    return is_program(hook, "nvidia-cdi-hook") && is_cdi_subcommand(arg(hook, 1));
}

bool hook_matches(const struct hook *hook, const struct policy_hook *rule)
{
    if (strcmp(hook->path, rule->path) != 0)
        return false;
    if (!rule->args.given)
        return true;
    for (size_t i = 0; i < rule->args.count; i++) {
        if (strcmp(rule->args.items[i], "...") == 0)
            return true;
        if (i >= json_count(hook->args) || !glob_matches(rule->args.items[i], arg(hook, i)))
            return false;
    }
    return json_count(hook->args) == rule->args.count;
}

/* ---- programs ---- */

/* Returns true for an executable file that only root can write or replace. */
static bool is_trusted(const char *path)
{
    _cleanup_source_ struct source source = SOURCE_INIT;
    struct err ignored;
    struct stat st;

    return source_find(path, &source, &ignored) == 0 && !source.missing && !source.exposed &&
           source.regular && fstat(source.fd, &st) == 0 && trust_closed(&st);
}

/* Returns true if the process of /proc/PID/exe is dockerd. */
static bool is_dockerd(const char *path)
{
    static const char name[] = "/dockerd", deleted[] = " (deleted)";
    char target[PATH_MAX];
    struct stat st;
    ssize_t len = readlink(path, target, sizeof(target) - 1);

    if (len <= 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !trust_closed(&st))
        return false;
    target[len] = '\0';
    /* After an upgrade the file has no name; only root could have replaced it. */
    char *end = strstr(target, deleted);
    bool gone = end && end[strlen(deleted)] == '\0' && st.st_nlink == 0;
    if (gone)
        *end = '\0';
    const char *slash = strrchr(target, '/');
    return slash && strcmp(slash, name) == 0 && (gone || is_trusted(target));
}

/* ---- all hooks ---- */

struct gather {
    const struct policy_security *policy;
    struct cdi cdi;
    struct arena *arena;
    struct security_facts *out;
    struct err *err;
};

static bool policy_allows(const struct policy_security *policy, const struct hook *hook)
{
    for (size_t i = 0; i < policy->hook_rule_count; i++)
        if (hook_matches(hook, &policy->hook_rules[i]))
            return true;
    return false;
}

/* Sets *problem to the reason why the hook is not allowed, or to NULL. */
static int find_problem(struct gather *g, const struct json *entry, const char **problem)
{
    struct hook hook;

    *problem = hook_read(entry, &hook);
    if (*problem)
        return 0;
    if (hook_is_dockers(&hook)) {
        *problem = is_dockerd(hook.path) ? NULL : "the process is not dockerd";
        return 0;
    }
    bool known = hook_is_known(&hook) || policy_allows(g->policy, &hook);
    if (!known) {
        if (cdi_read(&g->cdi, g->arena, g->err) < 0)
            return -1;
        known = cdi_has_hook(&g->cdi, hook.path, hook.args);
    }
    if (!known)
        *problem = "neither the policy nor a CDI specification has it with these arguments";
    else if (!is_trusted(hook.path))
        *problem = "not a file that only root can write";
    return 0;
}

static int add_hook(struct gather *g, const struct json *entry)
{
    struct security_facts *out = g->out;
    struct hook_fact fact = {.entry = entry};

    if (find_problem(g, entry, &fact.problem) < 0)
        return -1;
    out->hooks = arena_extend(g->arena, out->hooks, out->hook_count, sizeof(*out->hooks));
    if (!out->hooks)
        return err_nomem(g->err);
    out->hooks[out->hook_count++] = fact;
    return 0;
}

int hooks_gather(const struct policy_security *policy, const struct spec *spec, struct arena *arena,
                 struct security_facts *out, struct err *err)
{
    struct gather g = {.policy = policy, .arena = arena, .out = out, .err = err};
    const struct json *hooks = json_get(spec->root, "hooks");

    for (size_t i = 0; json_is(hooks, JSON_OBJECT) && i < json_count(hooks); i++) {
        const struct json *list = hooks->members[i].value;
        for (size_t k = 0; json_is(list, JSON_ARRAY) && k < json_count(list); k++)
            if (add_hook(&g, json_at(list, k)) < 0)
                return -1;
    }
    return 0;
}
