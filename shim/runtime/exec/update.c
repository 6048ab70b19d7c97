#include "shim/oci/spec_names.h"
#include "shim/runtime/exec/exec.h"
#include "shim/runtime/exec/exec_rules.h"
#include "shim/runtime/exec/handed_file.h"
#include "shim/runtime/exec/state.h"

#include <string.h>

/* Edits the file. Fails with ERR_POLICY if it asks for what the container's rules deny. */
static int edit_resources(const char *source, const struct json *rules, struct buf *text,
                          struct err *err)
{
    static const struct json_options options = {.max_bytes = HANDED_FILE_BYTES,
                                                .unique_keys = true};
    _cleanup_json_ struct json_doc *doc =
        json_parse(text->data ? text->data : "", text->len, &options, err);

    if (!doc)
        return err_wrap(err, "%s", source);
    if (!json_is(json_root(doc), JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "%s: not an object", source);
    if (spec_names_check(json_root(doc), err) < 0)
        return err_wrap(err, "%s", source);
    if (exec_rules_update(rules, json_root(doc), err) < 0)
        return -1;
    json_remove(json_root(doc), "devices"); /* crun would apply the rules */
    buf_truncate(text, 0);
    return json_write(doc, text, err);
}

/* Both runtimes read "-" as their standard input. */
static const char *path_of(const char *resources)
{
    return strcmp(resources, "-") == 0 ? "/dev/stdin" : resources;
}

int update_edit(const struct call *call, int *copy, struct err *err)
{
    _cleanup_json_ struct json_doc *state = NULL;
    _cleanup_buf_ struct buf text = BUF_INIT;

    *copy = -1;
    if (state_find(call->root, call->id, &state, err) < 0)
        return -1;
    const struct json *rules = state ? json_get(json_root(state), "rules") : NULL;
    if (!exec_rules_enforced(rules))
        return 0;
    if (handed_file_read(path_of(call->resources), &text, err) < 0 ||
        edit_resources(call->resources, rules, &text, err) < 0)
        return -1;
    return handed_file_copy(&text, copy, err);
}
