#include "shim/runtime/exec/exec.h"

#include "shim/gather/tuning.h"
#include "shim/oci/spec.h"
#include "shim/runtime/exec/cwd_rule.h"
#include "shim/runtime/exec/exec_rules.h"
#include "shim/runtime/exec/handed_file.h"
#include "shim/runtime/exec/inherited_fds.h"
#include "shim/runtime/exec/pinned_namespaces.h"
#include "shim/runtime/exec/state.h"

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

/* Returns a list of process.json, made if it is missing; NULL if the file is malformed. */
static struct json *list_of(struct json_doc *doc, const char *key)
{
    struct json *root = json_root(doc), *list = json_get(root, key);

    if (!json_is(root, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < json_count(root); i++)
        if (spec_name_shadows(root->members[i].key, root->members[i].key_len, key))
            return NULL;
    if (!list || json_is(list, JSON_NULL))
        return json_set(doc, root, key, json_array(doc));
    return json_is(list, JSON_ARRAY) ? list : NULL;
}

static int add_variables(const char *source, struct json_doc *doc, const struct json *variables,
                         struct err *err)
{
    if (!json_count(variables))
        return 0;
    struct json *env = list_of(doc, "env");
    if (!env)
        return err_set(err, ERR_FORMAT, "%s: not a process", source);
    for (size_t i = 0; i < variables->len; i++) {
        const char *text = json_text(variables->items[i]);
        if (text && !sets(env, text))
            json_append(doc, env, json_string(doc, text));
    }
    return 0;
}

/* ---- resource limits ---- */

static struct json *find_limit(const struct json *list, const char *type)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const char *other = json_text(json_get(list->items[i], "type"));
        if (other && strcmp(other, type) == 0)
            return list->items[i];
    }
    return NULL;
}

static bool same_number(const struct json *a, const struct json *b, const char *key)
{
    uint64_t one, other;

    return json_u64(json_get(a, key), &one) && json_u64(json_get(b, key), &other) && one == other;
}

/* The caller of exec may have lower limits than the caller of create had. */
static uint64_t bounded(uint64_t amount, const char *type, const struct tuning_facts *host)
{
    for (int kind = 0; kind < TUNING_KINDS && !host->may_raise; kind++) {
        const char *name = tuning_rlimit((enum tuning_kind)kind);
        if (name && strcmp(name, type) == 0 && host->limits[kind].hard < amount)
            return host->limits[kind].hard;
    }
    return amount;
}

/*
 * Sets a limit, unless exec has another than the engine itself set when the container was created.
 */
static void put_limit(struct json_doc *doc, struct json *list, const struct json *limit,
                      const struct tuning_facts *host)
{
    const char *type = json_text(json_get(limit, "type"));
    struct json *present = type ? find_limit(list, type) : NULL;
    const struct json *was = json_get(limit, "was");
    uint64_t soft, hard;

    if (!type || !json_u64(json_get(limit, "soft"), &soft) ||
        !json_u64(json_get(limit, "hard"), &hard) ||
        (present && !(same_number(present, was, "soft") && same_number(present, was, "hard"))))
        return;
    if (!present) {
        present = json_append(doc, list, json_object(doc));
        json_set(doc, present, "type", json_string(doc, type));
    }
    json_set(doc, present, "hard", json_number(doc, bounded(hard, type, host)));
    json_set(doc, present, "soft", json_number(doc, bounded(soft, type, host)));
}

static int add_limits(const char *source, struct json_doc *doc, const struct json *limits,
                      struct err *err)
{
    struct tuning_facts host;

    if (!json_count(limits))
        return 0;
    struct json *list = list_of(doc, "rlimits");
    if (!list)
        return err_set(err, ERR_FORMAT, "%s: not a process", source);
    tuning_gather(&host);
    for (size_t i = 0; i < limits->len; i++)
        put_limit(doc, list, limits->items[i], &host);
    return 0;
}

/* ---- the container's user ---- */

/* Removes HOME=/, which engines give to users without a name. */
static void remove_default_home(struct json *env)
{
    for (size_t i = json_count(env); i > 0; i--) {
        const char *text = json_text(json_at(env, i - 1));
        if (text && strcmp(text, "HOME=/") == 0)
            json_remove_at(env, i - 1);
    }
}

static bool has_number(const struct json *list, uint64_t number)
{
    uint64_t other;

    for (size_t i = 0; i < json_count(list); i++)
        if (json_u64(json_at(list, i), &other) && other == number)
            return true;
    return false;
}

static int add_groups(const char *source, struct json_doc *doc, const struct json *groups,
                      struct err *err)
{
    struct json *user = json_get(json_root(doc), "user");
    uint64_t gid;

    if (!json_count(groups))
        return 0;
    if (!json_is(user, JSON_OBJECT))
        return err_set(err, ERR_FORMAT, "%s: not a process", source);
    struct json *list = json_list(doc, user, "additionalGids");
    for (size_t i = 0; i < groups->len; i++)
        if (json_u64(json_at(groups, i), &gid) && !has_number(list, gid))
            json_append(doc, list, json_number(doc, gid));
    return 0;
}

/* Returns what create kept for its user, if it is a process of that user; or NULL. */
static const struct json *find_kept(struct json_doc *doc, const struct json *state)
{
    const struct json *kept = json_get(state, "user");
    const struct json *user = json_get(json_root(doc), "user");
    uint64_t of = 0, uid = 0;

    return json_u64(json_get(kept, "uid"), &of) && json_u64(json_get(user, "uid"), &uid) &&
                   of == uid
               ? kept
               : NULL;
}

static int add_home(const char *source, struct json_doc *doc, const struct json *kept,
                    struct err *err)
{
    const struct json *env = json_get(kept, "env");

    if (!json_is(env, JSON_ARRAY))
        return 0;
    remove_default_home(json_get(json_root(doc), "env"));
    return add_variables(source, doc, env, err);
}

static const struct json *array_of(const struct json *object, const char *key)
{
    const struct json *value = json_get(object, key);

    return json_is(value, JSON_ARRAY) ? value : NULL;
}

static bool has_more_groups(const struct spec *process)
{
    const struct json *list = json_path(process->process, "user", "additionalGids", NULL);
    uint64_t gid;

    for (size_t i = 0; i < json_count(list); i++)
        if (!json_u64(json_at(list, i), &gid) || gid != process->gid)
            return true;
    return false;
}

/* Returns true if the runtime looks groups up in a file that may not be the one that was judged. */
static bool misreads_groups(struct lowlevel *low, const struct json *rules,
                            const struct spec *process)
{
    struct lowlevel_version version;
    struct err ignored;

    if (!exec_rules_copied(rules) || !has_more_groups(process))
        return false;
    return lowlevel_ask_version(low, &version, &ignored) < 0 || lowlevel_names_groups(&version);
}

/* Has the process start in a directory as its user opened it, if the rules are for that. */
static int hold_cwd(const struct call *call, const struct json *rules, const struct spec *process,
                    struct json_doc *doc, struct exec_files *out, struct err *err)
{
    if (!rules)
        return 0;
    if (cwd_rule_open(rules, call, process, &out->directory, err) < 0)
        return -1;
    if (out->directory < 0)
        return 0;
    out->number = inherited_fds_next(call->preserve_fds, err);
    if (out->number < 0)
        return -1;
    _cleanup_free_ char *path = strf("/proc/self/fd/%d", out->number);
    if (!path)
        return err_nomem(err);
    json_set(doc, json_root(doc), "cwd", json_string(doc, path));
    return 0;
}

/* Edits the text of the call's process. */
static int edit_process(const struct call *call, const struct json *state, struct lowlevel *low,
                        struct buf *text, struct exec_files *out, struct err *err)
{
    static const struct json_options options = {.max_bytes = HANDED_FILE_BYTES,
                                                .unique_keys = true};
    const struct json *rules = json_get(state, "rules");
    const char *source = call->process;
    _cleanup_json_ struct json_doc *doc =
        json_parse(text->data ? text->data : "", text->len, &options, err);
    struct spec process;

    if (!doc || (rules && spec_read_exec(doc, &process, err) < 0))
        return err_wrap(err, "%s", source);
    const struct json *kept = find_kept(doc, state);
    /*
     * Groups first: they are judged with those of the process, and open directories to it, also
     * where names take them away.
     */
    if (add_groups(source, doc, json_get(kept, "groups"), err) < 0 ||
        exec_rules_apply(rules, &process, doc, err) < 0 ||
        (exec_rules_enforced(rules) && pinned_namespaces_hold(rules, call, err) < 0) ||
        hold_cwd(call, rules, &process, doc, out, err) < 0 ||
        exec_rules_apply_names(rules, &process, rules && misreads_groups(low, rules, &process),
                               err) < 0 ||
        add_variables(source, doc, array_of(state, "env"), err) < 0 ||
        add_limits(source, doc, array_of(state, "rlimits"), err) < 0 ||
        add_home(source, doc, kept, err) < 0)
        return -1;
    buf_truncate(text, 0);
    return json_write(doc, text, err);
}

/* Without enforced rules nothing is refused here: the runtime gets what was read. */
static int hand_on_process(const struct call *call, const struct json *state, struct lowlevel *low,
                           struct exec_files *out, struct err *err)
{
    bool enforced = exec_rules_enforced(json_get(state, "rules"));
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (handed_file_read(call->process, &text, err) < 0)
        return enforced ? -1 : 0;
    if (edit_process(call, state, low, &text, out, err) < 0 && enforced)
        return -1;
    return handed_file_copy(&text, &out->process, err);
}

/* The runtime makes the process itself: crun's is root, and has no no_new_privs, unless told so. */
static int hand_on_command(const struct call *call, const struct json *state, struct err *err)
{
    if (!exec_rules_enforced(json_get(state, "rules")))
        return 0;
    if (call->unknown)
        return err_set(err, ERR_POLICY,
                       "the option '%s' is not known, and there is no --process FILE: the policy's "
                       "rules hold for an exec in this container, which needs its process as a "
                       "file: write exec --process FILE ID",
                       call->unknown);
    return err_set(err, ERR_POLICY,
                   "the policy's rules hold for an exec in this container, which needs its "
                   "process as a file: write exec --process FILE ID, or use the engine's exec");
}

/* crun runs a process in any cgroup, where other rules for devices hold, or none. */
static int check_cgroup(const struct call *call, const struct json *state, struct err *err)
{
    if (!call->cgroup || !exec_rules_enforced(json_get(state, "rules")))
        return 0;
    return err_set(err, ERR_POLICY,
                   "the policy's rules hold for an exec in this container, which stays in the "
                   "container's cgroup: leave out --cgroup");
}

int exec_edit(const struct call *call, struct lowlevel *low, struct exec_files *out,
              struct err *err)
{
    _cleanup_json_ struct json_doc *doc = NULL;

    *out = (struct exec_files){.process = -1, .directory = -1};
    if (state_find(call->root, call->id, &doc, err) < 0)
        return -1;
    if (!doc)
        return 0;
    const struct json *state = json_root(doc);
    const struct json *rules = json_get(state, "rules");
    if (check_cgroup(call, state, err) < 0 ||
        (exec_rules_enforced(rules) && inherited_fds_check(call->preserve_fds, err) < 0))
        return -1;
    return call->process ? hand_on_process(call, state, low, out, err)
                         : hand_on_command(call, state, err);
}

int start_check(const struct call *call, struct err *err)
{
    _cleanup_json_ struct json_doc *doc = NULL;

    if (state_find(call->root, call->id, &doc, err) < 0)
        return -1;
    return doc ? cwd_rule_check(json_get(json_root(doc), "rules"), call, err) : 0;
}
