#include "shim/exec_edit.h"

#include "shim/bundle.h"
#include "shim/spec.h"
#include "shim/state.h"

#include <string.h>

static bool sets(const struct json *env, const char *text)
{
    size_t len = strcspn(text, "=");

    for (size_t i = 0; i < json_count(env); i++) {
        const char *other = json_text(env->items[i]);
        if (other && strncmp(other, text, len) == 0 && (other[len] == '=' || !other[len]))
            return true;
    }
    return false;
}

/* `env` of process.json, made where it is missing; NULL if the file is not as it should be. */
static struct json *env_of(struct json_doc *doc)
{
    struct json *root = json_root(doc), *env = json_get(root, "env");

    if (!json_is(root, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < json_count(root); i++)
        if (spec_name_shadows(root->members[i].key, root->members[i].key_len, "env"))
            return NULL;
    if (!env || json_is(env, JSON_NULL))
        return json_set(doc, root, "env", json_array(doc));
    return json_is(env, JSON_ARRAY) ? env : NULL;
}

static int add_variables(struct bundle *file, const struct json *variables, struct err *err)
{
    struct json *env = env_of(file->doc);

    if (!env)
        return err_set(err, ERR_FORMAT, "%s: not a process", file->path);
    for (size_t i = 0; i < json_count(variables); i++) {
        const char *text = json_text(variables->items[i]);
        if (text && !sets(env, text))
            json_append(file->doc, env, json_string(file->doc, text));
    }
    return json_failed(file->doc) ? err_nomem(err) : 0;
}

int exec_edit(const struct call *call, struct err *err)
{
    _cleanup_json_ struct json_doc *state = state_load(call->root, call->id, err);
    _cleanup_bundle_ struct bundle file = BUNDLE_INIT;

    if (!state)
        return -1;
    const struct json *variables = json_get(json_root(state), "env");
    if (!json_is(variables, JSON_ARRAY) || bundle_open_file(&file, call->process, err) < 0 ||
        add_variables(&file, variables, err) < 0)
        return -1;
    file.fleeting = true;
    return json_modified(file.doc) ? bundle_write(&file, err) : 0;
}
