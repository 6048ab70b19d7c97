/* The "volumes" section. */
#include "shim/policy/preset.h"
#include "shim/policy/read/sections/sections.h"
#include "shim/policy/registry_source.h"
#include "shim/policy/template.h"

#include <stdio.h>
#include <string.h>

static int read_template(struct decoder *d, const struct json *value, unsigned allowed,
                         struct policy_text *out, unsigned *used)
{
    if (decode_text(d, value, out) < 0)
        return -1;
    if (template_check(out->text, allowed, used, d->err) < 0)
        return decode_wrap(d, value);
    d->policy->vars |= *used;
    return 0;
}

static int read_path(struct decoder *d, const struct json *value, struct policy_text *out,
                     unsigned *used)
{
    if (read_template(d, value, TEMPLATE_COMPONENTS, out, used) < 0)
        return -1;
    if (out->text[0] != '/')
        return decode_fail(d, value, "'%s' is not an absolute path", out->text);
    return 0;
}

static int read_source(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    if (read_template(d, value, TEMPLATE_COMPONENTS, &v->source, &v->source_vars) < 0)
        return -1;
    if (registry_source_is(v->source.text))
        return registry_source_check_template(v->source.text, d->err) < 0 ? decode_wrap(d, value)
                                                                          : 0;
    if (strstr(v->source.text, "://"))
        return decode_fail(d, value, "'%s': a source in a registry is " REGISTRY_SOURCE "HOST/...",
                           v->source.text);
    if (v->source.text[0] != '/')
        return decode_fail(d, value, "'%s' is not an absolute path", v->source.text);
    return 0;
}

static int read_target(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    return read_path(d, value, &v->target, &v->target_vars);
}

static int read_pool(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;
    unsigned used;

    return read_path(d, value, &v->pool, &used);
}

static int read_access(struct decoder *d, const struct json *value, void *target)
{
    static const char *const names[] = {"ro", "rw"};
    struct policy_volume *v = target;
    int access;

    if (decode_choice(d, value, names, 2, &access) < 0)
        return -1;
    v->access = (enum policy_access)access;
    v->access_place = decode_place(d, value);
    return 0;
}

static int read_names(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    return decode_list(d, value, &v->names);
}

static int read_always(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    v->always_place = decode_place(d, value);
    if (value->type == JSON_BOOL) {
        v->always = value->boolean;
        v->always_names = (struct policy_list){0};
        return 0;
    }
    if (value->type != JSON_ARRAY)
        return decode_fail(d, value, "expected true, false or an array of names, not %s",
                           json_type_name(value->type));
    if (decode_list(d, value, &v->always_names) < 0)
        return -1;
    for (size_t i = 0; i < v->always_names.count; i++)
        if (!template_name_valid(v->always_names.items[i], strlen(v->always_names.items[i])))
            return decode_fail(d, value->items[i], "'%s' cannot be a name",
                               v->always_names.items[i]);
    v->always = v->always_names.count > 0;
    return 0;
}

static int read_optional(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    return decode_bool(d, value, &v->optional);
}

static int read_wait(struct decoder *d, const struct json *value, void *target)
{
    return decode_seconds(d, value, 1, POLICY_WAIT, &((struct policy_volume *)target)->wait);
}

static int read_idmap(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;
    const char *text = json_text(value);

    if (value->type == JSON_BOOL)
        v->idmap = value->boolean ? IDMAP_ALWAYS : IDMAP_NEVER;
    else if (text && strcmp(text, "ask") == 0)
        v->idmap = IDMAP_ASK;
    else
        return decode_fail(d, value, "expected true, false or \"ask\"");
    return 0;
}

static int read_mode(struct decoder *d, const struct json *value, void *target)
{
    struct policy_create *create = target;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    size_t digits = strspn(text.text, "01234567");
    unsigned long mode = strtoul(text.text, NULL, 8);
    if (text.text[digits] || digits < 3 || digits > 5 || mode > 07777)
        return decode_fail(d, value, "'%s': expected an octal mode such as \"0750\"", text.text);
    create->mode = (mode_t)mode;
    return 0;
}

static bool read_owner_numbers(const char *text, struct policy_create *create)
{
    unsigned long uid, gid;
    char *end;

    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    uid = strtoul(text, &end, 10);
    if (*end != ':' || end[1] < '0' || end[1] > '9')
        return false;
    gid = strtoul(end + 1, &end, 10);
    if (*end || errno || uid >= UINT32_MAX || gid >= UINT32_MAX)
        return false;
    create->uid = (uid_t)uid;
    create->gid = (gid_t)gid;
    return true;
}

static int read_owner(struct decoder *d, const struct json *value, void *target)
{
    struct policy_create *create = target;
    struct policy_text text = {0};

    if (decode_text(d, value, &text) < 0)
        return -1;
    if (strcmp(text.text, "process") == 0)
        create->owner = OWNER_PROCESS;
    else if (strcmp(text.text, "identity") == 0)
        create->owner = OWNER_IDENTITY;
    else if (read_owner_numbers(text.text, create))
        create->owner = OWNER_FIXED;
    else
        return decode_fail(d, value, "'%s': expected \"process\", \"identity\" or \"UID:GID\"",
                           text.text);
    return 0;
}

static int read_create(struct decoder *d, const struct json *value, void *target)
{
    static const struct decode_key keys[] = {{"mode", read_mode}, {"owner", read_owner}};
    struct policy_volume *v = target;

    if (!v->create.wanted)
        v->create.mode = 0750;
    v->create.wanted = true;
    v->create.place = decode_place(d, value);
    return decode_object(d, value, keys, 2, &v->create);
}

/* Mount options that are flags of mount(2) to both runtimes, and are not covered by `access`. */
static const char *const known_options[] = {
    "nosuid",  "suid",       "nodev",    "dev",        "noexec",      "exec",
    "noatime", "nodiratime", "relatime", "norelatime", "strictatime", "rro",
};
enum { KNOWN_OPTIONS = sizeof(known_options) / sizeof(*known_options) };

static int check_option(struct decoder *d, const struct json *value, const char *option)
{
    _cleanup_buf_ struct buf list = BUF_INIT;

    for (size_t i = 0; i < KNOWN_OPTIONS; i++)
        if (strcmp(known_options[i], option) == 0)
            return 0;
    if (strcmp(option, "ro") == 0 || strcmp(option, "rw") == 0)
        return decode_fail(d, value, "'%s' is said by \"access\"", option);
    decode_print_names(&list, known_options, KNOWN_OPTIONS);
    return decode_fail(d, value, "unknown mount option '%s'; there are %s", option,
                       list.data ? list.data : "");
}

static int read_options(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    if (decode_list(d, value, &v->options) < 0)
        return -1;
    for (size_t i = 0; i < v->options.count; i++)
        if (check_option(d, value->items[i], v->options.items[i]) < 0)
            return -1;
    return 0;
}

static int read_presets(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;
    _cleanup_buf_ struct buf list = BUF_INIT;

    if (decode_list(d, value, &v->presets) < 0)
        return -1;
    for (size_t i = 0; i < v->presets.count; i++) {
        if (preset_variable(v->presets.items[i]))
            continue;
        preset_print_names(&list);
        return decode_fail(d, value->items[i], "unknown preset '%s'; there are %s",
                           v->presets.items[i], list.data ? list.data : "");
    }
    return 0;
}

static bool variable_name_valid(const char *name)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

    return *name && (*name < '0' || *name > '9') && name[strspn(name, chars)] == '\0';
}

static struct policy_env *env_slot(struct policy_volume *v, const char *name)
{
    for (size_t i = 0; i < v->env_count; i++)
        if (strcmp(v->env[i].name, name) == 0)
            return &v->env[i];
    return &v->env[v->env_count++];
}

static int read_env(struct decoder *d, const struct json *value, void *target)
{
    struct policy_volume *v = target;

    if (decode_type(d, value, JSON_OBJECT) < 0)
        return -1;
    struct policy_env *env =
        arena_alloc(&d->policy->arena, (v->env_count + value->len + 1) * sizeof(*env));
    if (!env)
        return err_nomem(d->err);
    if (v->env_count)
        memcpy(env, v->env, v->env_count * sizeof(*env));
    v->env = env;
    for (size_t i = 0; i < value->len; i++) {
        const struct json_member *m = &value->members[i];
        struct policy_text text = {0};
        unsigned used;
        if (strlen(m->key) != m->key_len || !variable_name_valid(m->key))
            return decode_fail_at(d, m->key_start, "\"%s\" cannot be a variable", m->key);
        if (read_template(d, m->value, TEMPLATE_ALL, &text, &used) < 0)
            return -1;
        *env_slot(v, m->key) = (struct policy_env){.name = m->key, .value = text};
    }
    return 0;
}

static const struct decode_key volume_keys[] = {
    {"source", read_source},   {"target", read_target},   {"access", read_access},
    {"names", read_names},     {"always", read_always},   {"optional", read_optional},
    {"create", read_create},   {"options", read_options}, {"env", read_env},
    {"presets", read_presets}, {"pool", read_pool},       {"idmap", read_idmap},
    {"wait", read_wait},       {"stage", decode_stage},
};

/* ---- classes ---- */

/* Returns true for names that annotations use for something else. */
static bool reserved(const char *name)
{
    static const char *const words[] = {"project", "profile", "shm",  "memlock",   "workers",
                                        "idmap",   "off",     "user", "requested", "stage"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

static int read_class(struct decoder *d, const struct json_member *m, struct policy *policy)
{
    struct policy_volume *v = NULL;

    if (!template_name_valid(m->key, m->key_len))
        return decode_fail_at(d, m->key_start, "\"%s\" cannot be the name of a class", m->key);
    if (reserved(m->key))
        return decode_fail_at(d, m->key_start, "flatbed.%s means something else", m->key);
    for (size_t i = 0; i < policy->volume_count; i++)
        if (strcmp(policy->volumes[i].name, m->key) == 0)
            v = &policy->volumes[i];
    if (!v) {
        v = &policy->volumes[policy->volume_count++];
        *v = (struct policy_volume){.name = m->key,
                                    .place = {.file = d->file, .offset = m->key_start}};
    }
    return decode_object(d, m->value, volume_keys, sizeof(volume_keys) / sizeof(*volume_keys), v);
}

int decode_volumes(struct decoder *d, const struct json *value, void *target)
{
    struct policy *policy = target;

    if (decode_type(d, value, JSON_OBJECT) < 0)
        return -1;
    struct policy_volume *all =
        arena_alloc(&policy->arena, (policy->volume_count + value->len + 1) * sizeof(*all));
    if (!all)
        return err_nomem(d->err);
    if (policy->volume_count)
        memcpy(all, policy->volumes, policy->volume_count * sizeof(*all));
    policy->volumes = all;
    for (size_t i = 0; i < value->len; i++)
        if (read_class(d, &value->members[i], policy) < 0)
            return -1;
    return 0;
}

/* ---- what only the whole can tell ---- */

static int fail_place(const struct policy_place *place, struct err *err, const char *class_name,
                      const char *reason)
{
    unsigned line, column;

    json_position(place->file->doc, place->offset, &line, &column);
    return err_set(err, ERR_POLICY, "%s:%u:%u: volumes.%s: %s", place->file->path, line, column,
                   class_name, reason);
}

static int check_volume(const struct policy_volume *v, struct err *err)
{
    unsigned uses = v->source_vars | v->target_vars;

    if (!v->source.text || !v->target.text)
        return fail_place(&v->place, err, v->name,
                          v->source.text ? "there is no \"target\"" : "there is no \"source\"");
    if (v->always && !v->always_names.count && (uses & 1u << VAR_NAME))
        return fail_place(&v->always_place, err, v->name,
                          "{name} is used: say which names, not just true");
    if (v->pool.text && v->idmap != IDMAP_NEVER)
        return fail_place(&v->pool.place, err, v->name,
                          "\"pool\" and \"idmap\" exclude each other");
    if (v->stage.cache.text && (v->pool.text || v->access == ACCESS_RW))
        return fail_place(&v->stage.cache.place, err, v->name,
                          v->pool.text ? "\"stage\" and \"pool\" exclude each other"
                                       : "a copy is read-only: \"stage\" needs \"access\": \"ro\"");
    if (registry_source_is(v->source.text)) {
        const char *problem = decode_registry_problem(v);
        if (problem)
            return fail_place(&v->source.place, err, v->name, problem);
    }
    if (v->presets.count && !(v->target_vars & 1u << VAR_NAME))
        return fail_place(&v->presets.place, err, v->name, "\"presets\" need {name} in \"target\"");
    return 0;
}

static bool same_variable(const char *a, const char *b)
{
    while (*a && policy_variable_char(*a) == policy_variable_char(*b))
        a++, b++;
    return !*a && !*b;
}

/* Fails if a variable FLATBED_CLASS could mean two classes. */
static int check_variables(const struct policy *policy, struct err *err)
{
    bool heard = false;

    for (size_t i = 0; i < policy->carrier_count; i++)
        heard = heard || policy->carriers[i] == CARRIER_ENVIRONMENT;
    for (size_t i = 0; heard && i < policy->volume_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct policy_volume *a = &policy->volumes[j], *b = &policy->volumes[i];
            if (!same_variable(a->name, b->name))
                continue;
            _cleanup_free_ char *reason =
                strf("to the environment it is the same name as '%s'", a->name);
            return reason ? fail_place(&b->place, err, b->name, reason) : err_nomem(err);
        }
    return 0;
}

int decode_volumes_check(struct policy *policy, struct err *err)
{
    if (check_variables(policy, err) < 0)
        return -1;
    for (size_t i = 0; i < policy->volume_count; i++) {
        if (check_volume(&policy->volumes[i], err) < 0)
            return -1;
        if (policy->volumes[i].create.owner == OWNER_IDENTITY)
            policy->uses_identity = true;
    }
    return 0;
}
