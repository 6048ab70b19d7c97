#include "shim/admin/start/start_volumes.h"

#include "base/cli/log.h"
#include "base/path.h"
#include "shim/mount/source_wait.h"
#include "shim/policy/preset.h"
#include "shim/policy/read/policy_read.h"
#include "shim/policy/template.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 2000 };

static int add(const struct start_volume *volume, struct start_volumes *out, struct err *err)
{
    if (out->count == OPTION_LIST_MOST)
        return err_set(err, ERR_LIMIT, "more than %d volumes", OPTION_LIST_MOST);
    out->list[out->count++] = *volume;
    return 0;
}

int start_volumes_add(const char *text, struct arena *arena, struct start_volumes *out,
                      struct err *err)
{
    const char *colon = strchr(text, ':'), *end = colon ? strchr(colon + 1, ':') : NULL;
    struct start_volume v = {0};

    if (!colon || (end && strcmp(end, ":ro") != 0 && strcmp(end, ":rw") != 0))
        return err_set(err, ERR_USAGE, "--volume=%s: must be SOURCE:TARGET, :ro or :rw behind it",
                       text);
    v.source = arena_strndup(arena, text, (size_t)(colon - text));
    v.target = arena_strndup(arena, colon + 1, end ? (size_t)(end - colon - 1) : strlen(colon + 1));
    v.write = end && end[2] == 'w';
    if (!v.source || !v.target)
        return err_nomem(err);
    if (!path_is_clean_absolute(v.source) || !path_is_clean_absolute(v.target))
        return err_set(err, ERR_USAGE, "--volume=%s: both must be clean absolute paths", text);
    if (!source_answers(v.source, WAIT_MS))
        return err_set(err, ERR_USAGE, "--volume=%s: the source does not answer", text);
    if (access(v.source, F_OK) < 0)
        return err_sys(err, "--volume=%s: the source", text);
    return add(&v, out, err);
}

/* ---- presets ---- */

/* Returns the text with its values, in the arena; NULL if one is not known here. */
static const char *expand(const char *text, const char *name, struct arena *arena)
{
    const char *sudo = getenv("SUDO_USER"), *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
    const struct template_values values = {.value = {[VAR_NAME] = name,
                                                     [VAR_USER] = sudo ? sudo : "root",
                                                     [VAR_UID] = sudo && uid ? uid : "0",
                                                     [VAR_GID] = sudo && gid ? gid : "0"}};
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct err ignored;

    if (!text || template_expand(text, &values, &out, &ignored) < 0 || out.failed || !out.data)
        return NULL;
    return arena_strndup(arena, out.data, out.len);
}

static int add_preset(const struct policy_volume *class, const char *preset, struct arena *arena,
                      struct start_volumes *out, struct err *err)
{
    const struct start_volume v = {.source = expand(class->source.text, preset, arena),
                                   .target = expand(class->target.text, preset, arena),
                                   .variable = preset_variable(preset)};

    if (!v.source || !v.target || !source_answers(v.source, WAIT_MS) || access(v.source, F_OK) < 0)
        return 0;
    return add(&v, out, err);
}

int start_volumes_add_presets(const char *policy_path, struct arena *arena,
                              struct start_volumes *out, struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    struct err why = ERR_INIT;

    if (!policy)
        return -1;
    if (policy_open(policy, policy_path, &why) < 0 || policy_decode(policy, &why) < 0) {
        log_warning("no caches of the policy: %s", why.msg);
        return 0;
    }
    for (size_t v = 0; v < policy->volume_count; v++) {
        const struct policy_volume *class = &policy->volumes[v];
        for (size_t p = 0; p < class->presets.count; p++)
            if (add_preset(class, class->presets.items[p], arena, out, err) < 0)
                return -1;
    }
    return 0;
}
