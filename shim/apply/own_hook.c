#include "shim/apply/own_hook.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const struct own_hook own_hook_mounts = {"createContainer", "--flatbed-check-mounts"};
const struct own_hook own_hook_console = {"createRuntime", "--flatbed-deny-console"};

static bool has_option(const struct json *entry, const struct own_hook *hook)
{
    const char *option = json_text(json_at(json_get(entry, "args"), 1));

    return option && strcmp(option, hook->option) == 0;
}

static bool is_same(const struct json *entry, const struct own_hook *hook, const char *program,
                    const char *const *words, size_t count)
{
    const struct json *args = json_get(entry, "args");
    const char *path = json_text(json_get(entry, "path"));

    if (!has_option(entry, hook) || !path || strcmp(path, program) != 0 ||
        json_count(args) != count + OWN_HOOK_WORDS)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *text = json_text(json_at(args, i + OWN_HOOK_WORDS));
        if (!text || strcmp(text, words[i]) != 0)
            return false;
    }
    return true;
}

/* A hook without `env` would inherit the low-level runtime's. */
static struct json *make_hook(struct json_doc *doc, const char *program,
                              const struct own_hook *hook, const char *const *words, size_t count)
{
    struct json *entry = json_object(doc), *args = json_array(doc), *env = json_array(doc);

    json_append(doc, args, json_string(doc, program));
    json_append(doc, args, json_string(doc, hook->option));
    for (size_t i = 0; i < count; i++)
        json_append(doc, args, json_string(doc, words[i]));
    json_append(doc, env, json_string(doc, "PATH=/usr/bin:/bin"));
    json_set(doc, entry, "path", json_string(doc, program));
    json_set(doc, entry, "args", args);
    json_set(doc, entry, "env", env);
    return entry;
}

int own_hook_put(const struct own_hook *hook, const struct spec *spec, struct json_doc *doc,
                 bool wanted, const char *const *words, size_t count, bool *changed,
                 struct err *err)
{
    struct json *hooks = json_get(spec->root, "hooks"), *list = json_get(hooks, hook->stage);
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len < 0)
        return err_sys(err, "/proc/self/exe");
    program[len] = '\0';
    if (wanted && json_is(list, JSON_ARRAY) &&
        is_same(json_at(list, 0), hook, program, words, count))
        return 0;
    for (size_t i = json_count(list); i > 0; i--)
        if (has_option(json_at(list, i - 1), hook)) {
            json_remove_at(list, i - 1);
            *changed = true;
        }
    if (!wanted)
        return 0;
    if (!json_is(hooks, JSON_OBJECT))
        hooks = json_set(doc, spec->root, "hooks", json_object(doc));
    json_insert(doc, json_list(doc, hooks, hook->stage), 0,
                make_hook(doc, program, hook, words, count));
    *changed = true;
    return json_failed(doc) ? err_nomem(err) : 0;
}
