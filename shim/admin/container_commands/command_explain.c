#include "shim/admin/container_commands/container_commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "shim/admin/explain/container.h"
#include "shim/admin/explain/explain.h"
#include "shim/host/process/patience.h"
#include "shim/oci/bundle.h"
#include "shim/policy/read/policy_read.h"

#include <string.h>

enum { MEMORY_LIMIT = 256 * 1024 * 1024 };

struct explain_command {
    const char *config, *policy, *id;
    struct option_list annotations, env, states;
    bool draft, json;
};

#define FIELD(name) offsetof(struct explain_command, name)
static const struct option_spec explain_options[] = {
    {"config", 'c', OPTION_FILE, FIELD(config), "FILE", NULL,
     "the config.json of a bundle, instead of a container"},
    {"annotation", 'a', OPTION_LIST, FIELD(annotations), "KEY=VALUE", NULL,
     "as if the container had this annotation; may be repeated"},
    {"env", 'e', OPTION_LIST, FIELD(env), "NAME=VALUE", NULL,
     "as if its process had this variable; may be repeated"},
    {"policy", 0, OPTION_FILE, FIELD(policy), "FILE", NULL,
     "the policy, instead of /etc/flatbed/policy.json"},
    {"draft", 0, OPTION_FLAG, FIELD(draft), NULL, NULL,
     "also read a policy that users other than root could have written, with a warning"},
    {"id", 0, OPTION_TEXT, FIELD(id), "ID", NULL,
     "the container's ID; by default the name of the directory of --config"},
    {"state", 0, OPTION_LIST, FIELD(states), "DIR", NULL,
     "look for the container here, too: a containerd state directory, Docker's exec-root or "
     "data-root, podman's storage; may be repeated"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_explain_spec = {
    .program = "flatbed",
    .name = "explain",
    .operands = "[CONTAINER]",
    .summary = "Show what a policy makes of a container, and why.",
    .details =
        "Each mount, variable and limit: added, kept, downgraded, denied or skipped, by which\n"
        "line of the policy. CONTAINER is an ID, its start, or a name that Docker or podman\n"
        "gave; root also sees what was added when it was created, and for whom.\n"
        "Nothing is changed.\n"
        "Exit status 0: it could start, 1: the policy refuses it.\n",
    .options = explain_options,
    .max_operands = 1,
    .completes = OPERANDS_NONE,
};

/* ---- additions to config.json ---- */

static const char *split(const char *item, const char *option, size_t *key_len, struct err *err)
{
    const char *equals = strchr(item, '=');

    if (!equals || equals == item) {
        err_set(err, ERR_USAGE, "--%s=%s: expected NAME=VALUE", option, item);
        return NULL;
    }
    *key_len = (size_t)(equals - item);
    return equals + 1;
}

static int add_annotations(const struct option_list *list, struct json_doc *doc, struct err *err)
{
    struct json *annotations = json_get(json_root(doc), "annotations");

    if (list->count && !json_is(annotations, JSON_OBJECT))
        annotations = json_set(doc, json_root(doc), "annotations", json_object(doc));
    for (size_t i = 0; i < list->count; i++) {
        size_t len;
        const char *value = split(list->items[i], "annotation", &len, err);
        if (!value)
            return -1;
        _cleanup_free_ char *key = strndup(list->items[i], len);
        if (!key)
            return err_nomem(err);
        json_set(doc, annotations, key, json_string(doc, value));
    }
    return 0;
}

static int add_variables(const struct option_list *list, struct json_doc *doc, struct err *err)
{
    struct json *process = json_get(json_root(doc), "process");

    if (list->count && !json_is(process, JSON_OBJECT))
        return err_set(err, ERR_USAGE, "--env: the container has no process");
    for (size_t i = 0; i < list->count; i++) {
        size_t len;
        if (!split(list->items[i], "env", &len, err))
            return -1;
        json_append(doc, json_list(doc, process, "env"), json_string(doc, list->items[i]));
    }
    return json_failed(doc) ? err_nomem(err) : 0;
}

/* ---- the command ---- */

/* Returns the name of the directory that a file is in; NULL without memory. */
static char *directory_name(const char *file)
{
    _cleanup_free_ char *path = realpath(file, NULL);
    char *slash = path ? strrchr(path, '/') : NULL;

    if (!slash || slash == path)
        return strdup("container");
    *slash = '\0';
    slash = strrchr(path, '/');
    return strdup(slash[1] ? slash + 1 : "container");
}

static int load_policy(const struct explain_command *c, struct policy *policy, struct err *err)
{
    struct err distrust = ERR_INIT;

    policy->draft = c->draft;
    policy->distrust = &distrust;
    if (policy_open(policy, c->policy, err) < 0)
        return -1;
    if (distrust.kind != ERR_NONE)
        log_warning("flatbed-runtime would reject this policy: %s", distrust.msg);
    return policy->mode == POLICY_OFF ? 0 : policy_decode(policy, err);
}

static int show(const struct explain_command *c, struct bundle *bundle, const char *id,
                struct err *err)
{
    _cleanup_policy_ struct policy *policy = policy_new(err);
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    _cleanup_buf_ struct buf out = BUF_INIT;
    const struct explain_subject subject = {.doc = bundle->doc,
                                            .bundle = bundle->dirfd,
                                            .id = id,
                                            .config = bundle->path,
                                            .created = !c->config};
    struct explanation e;

    if (!policy || load_policy(c, policy, err) < 0 ||
        add_annotations(&c->annotations, bundle->doc, err) < 0 ||
        add_variables(&c->env, bundle->doc, err) < 0)
        return -1;
    patience_begin("explain", 2);
    int rc = explain_container(policy, &subject, &arena, &e, err);
    patience_end();
    if (rc < 0)
        return -1;
    rc = c->json ? explain_json(&e, &out, err)
                 : explain_print(&e, columns_colour(STDOUT_FILENO),
                                 columns_of_terminal(STDOUT_FILENO), &out, err);
    if (rc < 0 || program_print(&out, err) < 0)
        return -1;
    return e.refused ? 1 : 0;
}

static int explain(const struct explain_command *c, const char *word, struct err *err)
{
    _cleanup_container_ struct container found = {0};
    _cleanup_bundle_ struct bundle bundle = BUNDLE_INIT;

    if (!word == !c->config)
        return err_set(err, ERR_USAGE, "explain needs either --config=FILE or a container");
    if (word && container_find(word, c->states.items, c->states.count, &found, err) < 0)
        return -1;
    if (bundle_open_file(&bundle, c->config ? c->config : found.config, err) < 0)
        return -1;
    _cleanup_free_ char *name = c->id      ? strdup(c->id)
                                : found.id ? strdup(found.id)
                                           : directory_name(c->config);
    if (!name)
        return err_nomem(err);
    return show(c, &bundle, name, err);
}

int command_explain(int argc, char *const argv[], bool *help, struct err *err)
{
    struct explain_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_explain_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help)
        rc = explain(&c, operands.count ? operands.list[0] : NULL, err);
    free(operands.list);
    return rc;
}
