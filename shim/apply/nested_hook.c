#include "shim/apply/nested_hook.h"

#include "base/cleanup.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char stage[] = "createContainer";

int nested_words_add(struct nested_words *words, const char *word, struct arena *arena,
                     struct err *err)
{
    words->list = arena_extend(arena, words->list, words->count, sizeof(*words->list));
    if (!word || !words->list)
        return err_nomem(err);
    words->list[words->count++] = word;
    return 0;
}

static bool is_own_hook(const struct json *hook)
{
    const char *option = json_text(json_at(json_get(hook, "args"), 1));

    return option && strcmp(option, NESTED_OPTION) == 0;
}

static bool has_words(const struct json *hook, const char *program,
                      const struct nested_words *words)
{
    const struct json *args = json_get(hook, "args");
    const char *path = json_text(json_get(hook, "path"));

    if (!is_own_hook(hook) || !path || strcmp(path, program) != 0 ||
        json_count(args) != words->count + NESTED_ROOT)
        return false;
    for (size_t i = 0; i < words->count; i++) {
        const char *text = json_text(json_at(args, i + NESTED_ROOT));
        if (!text || strcmp(text, words->list[i]) != 0)
            return false;
    }
    return true;
}

/* A hook without `env` would inherit the low-level runtime's. */
static struct json *make_hook(struct json_doc *doc, const char *program,
                              const struct nested_words *words)
{
    struct json *hook = json_object(doc), *args = json_array(doc), *env = json_array(doc);

    json_append(doc, args, json_string(doc, program));
    json_append(doc, args, json_string(doc, NESTED_OPTION));
    for (size_t i = 0; i < words->count; i++)
        json_append(doc, args, json_string(doc, words->list[i]));
    json_append(doc, env, json_string(doc, "PATH=/usr/bin:/bin"));
    json_set(doc, hook, "path", json_string(doc, program));
    json_set(doc, hook, "args", args);
    json_set(doc, hook, "env", env);
    return hook;
}

int nested_hook_put(const struct spec *spec, struct json_doc *doc, const struct nested_words *words,
                    bool *changed, struct err *err)
{
    struct json *hooks = json_get(spec->root, "hooks"), *list = json_get(hooks, stage);
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (len < 0)
        return err_sys(err, "/proc/self/exe");
    program[len] = '\0';
    if (words->count && json_is(list, JSON_ARRAY) && has_words(json_at(list, 0), program, words))
        return 0;
    for (size_t i = json_count(list); i > 0; i--)
        if (is_own_hook(json_at(list, i - 1))) {
            json_remove_at(list, i - 1);
            *changed = true;
        }
    if (!words->count)
        return 0;
    if (!json_is(hooks, JSON_OBJECT))
        hooks = json_set(doc, spec->root, "hooks", json_object(doc));
    json_insert(doc, json_list(doc, hooks, stage), 0, make_hook(doc, program, words));
    *changed = true;
    return json_failed(doc) ? err_nomem(err) : 0;
}
