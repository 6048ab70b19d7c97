#include "shim/request/request.h"

#include "shim/request/request_value.h"

#include "shim/policy/template.h"

#include <ctype.h>
#include <string.h>

static const char annotation_prefix[] = "flatbed.";
static const char variable_prefix[] = "FLATBED_";
enum { PREFIX = sizeof(annotation_prefix) - 1 }; /* of both */

/* Words that a carrier can name besides classes of volumes; the kinds of tuning last. */
enum request_word {
    WORD_PROJECT,
    WORD_PROFILE,
    WORD_OFF,
    WORD_TUNING,
    REQUEST_WORDS = WORD_TUNING + TUNING_ASKABLE
};

static const char *word_name(int word)
{
    static const char *const names[] = {"project", "profile", "off"};

    return word < WORD_TUNING ? names[word] : request_tuning_names[word - WORD_TUNING];
}

/* ---- what all carriers share ---- */

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static int unknown_class(struct request_reader *r, const char *name)
{
    _cleanup_buf_ struct buf list = BUF_INIT;

    buf_puts(&list, "there are: ");
    for (size_t i = 0; i < r->policy->volume_count; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", r->policy->volumes[i].name);
    if (!r->policy->volume_count)
        buf_puts(&list, "none");
    const char *hint = list.failed ? NULL : arena_strndup(r->arena, list.data, list.len);
    if (!hint)
        return err_nomem(r->err);
    if (request_problem(r, "there are no volumes called '%.80s' here", name) < 0)
        return -1;
    r->out->list[r->out->count - 1].hint = hint;
    return 0;
}

/* Returns the word of that name, or REQUEST_WORDS. */
static enum request_word find_word(const char *name)
{
    int word = 0;

    while (word < REQUEST_WORDS && strcmp(name, word_name(word)) != 0)
        word++;
    return (enum request_word)word;
}

/* False if an earlier carrier named this class or word: the first one wins. */
static bool claim_name(struct request_reader *r, const struct policy_volume *volume,
                       enum request_word word)
{
    size_t i = volume ? (size_t)(volume - r->policy->volumes) : r->policy->volume_count + word;

    if (r->named[i] && r->named[i] != r->carrier)
        return false;
    r->named[i] = r->carrier;
    return true;
}

/* Sets a name, once: mounts, unlike the other carriers, can give several. */
static int set_name(struct request_reader *r, const char **name, const char *value)
{
    if (*name && strcmp(*name, value) != 0)
        return request_problem(r, "'%.80s' was asked for before: ask for one", *name);
    *name = value;
    return 0;
}

static int set_word(struct request_reader *r, enum request_word word, const char *value)
{
    if (word == WORD_OFF)
        return request_off(r, value);
    if (word >= WORD_TUNING)
        return request_tuning(r, (enum tuning_kind)(word - WORD_TUNING), value);
    if (!template_name_valid(value, strlen(value)))
        return request_bad_name(r, value);
    if (word == WORD_PROJECT)
        return set_name(r, &r->out->project, value);
    if (!r->out->profile)
        r->out->profile_key = r->key;
    return set_name(r, &r->out->profile, value);
}

/* Reads a value for the class `volume`, or for the word if that is NULL. */
static int read_value(struct request_reader *r, const struct policy_volume *volume,
                      enum request_word word, const char *value)
{
    if (!claim_name(r, volume, word))
        return 0;
    if (strlen(value) > REQUEST_VALUE_BYTES)
        return request_problem(r, "longer than %d bytes", REQUEST_VALUE_BYTES);
    if (volume)
        return request_list(r, volume, value);
    return set_word(r, word, value);
}

/* ---- annotations ---- */

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

/* An annotation that a profile looks at is no typing mistake. */
static bool names_profile(const struct policy *policy, const char *key)
{
    for (size_t i = 0; i < policy->profile_count; i++) {
        const struct policy_match *match = &policy->profiles[i].match;
        for (size_t j = 0; j < match->annotation_count; j++)
            if (strcmp(match->annotations[j].key, key) == 0)
                return true;
    }
    return false;
}

static int read_idmap(struct request_reader *r, const char *value)
{
    if (strcmp(value, "on") != 0)
        return request_problem(r, "'%.80s': expected on", value);
    r->out->idmap = true;
    return 0;
}

static int read_stage(struct request_reader *r, const char *value)
{
    unsigned offered = 0;

    for (size_t i = 0; i < r->policy->volume_count; i++)
        offered |= r->policy->volumes[i].stage.ask;
    for (unsigned i = 0; i < STAGE_WISHES; i++)
        if (strcmp(policy_stage_wishes[i], value) == 0 && (offered & 1u << i)) {
            r->out->stage = 1u << i;
            return 0;
        }
    return request_problem(r, "'%.80s': no class of the policy offers this in its \"stage\"",
                           value);
}

static int read_annotation(struct request_reader *r, const struct json_member *m)
{
    const char *name = m->key + PREFIX;
    const char *value = json_text(m->value);
    const struct policy_volume *volume = policy_volume_find(r->policy, name, strlen(name));
    enum request_word word = find_word(name);

    r->key = m->key;
    if (names_identity(r->policy, m->key) || strcmp(m->key, request_remembered) == 0)
        return 0;
    if (!value || strlen(m->key) != m->key_len)
        return request_problem(r, "not a plain string");
    if (strcmp(name, "idmap") == 0)
        return read_idmap(r, value);
    if (strcmp(name, "stage") == 0)
        return read_stage(r, value);
    if (!volume && word == REQUEST_WORDS)
        return names_profile(r->policy, m->key) ? 0 : unknown_class(r, name);
    return read_value(r, volume, word, value);
}

static int read_annotations(struct request_reader *r)
{
    const struct json *all = r->spec->annotations;

    for (size_t i = 0; i < json_count(all); i++) {
        const struct json_member *m = &all->members[i];
        if (m->key_len >= PREFIX && memcmp(m->key, annotation_prefix, PREFIX) == 0 &&
            read_annotation(r, m) < 0)
            return -1;
    }
    return 0;
}

/* ---- mounts ---- */

/*
 * Reads "CLASS/NAME", NUL-terminated, in the arena. Only a pair that is remembered may claim a
 * class: the next edit, which sees only those, must come to the same.
 */
static int read_pair(struct request_reader *r, char *text)
{
    char *slash = strchr(text, '/');

    if (!slash || strchr(slash + 1, '/'))
        return request_problem(r, "expected CLASS/NAME behind " REQUEST_DIRECTORY);
    *slash = '\0';
    const struct policy_volume *volume = policy_volume_find(r->policy, text, strlen(text));
    enum request_word word = find_word(text);
    if (!volume && word == REQUEST_WORDS)
        return unknown_class(r, text);
    if (!template_name_valid(slash + 1, strlen(slash + 1)))
        return request_bad_name(r, slash + 1);
    if (!claim_name(r, volume, word))
        return 0;
    if (volume)
        return request_push(r, (struct request){.volume = volume, .name = slash + 1});
    return set_word(r, word, slash + 1);
}

/* Reads a pair, and remembers it for the next edit unless it has a problem. */
static int read_remembered_pair(struct request_reader *r, const char *text, size_t len,
                                struct buf *remembered)
{
    char *copy = arena_strndup(r->arena, text, len);
    size_t problems = r->problems;

    if (!copy)
        return err_nomem(r->err);
    if (r->out->count > REQUESTS_IN_ALL)
        return 0; /* an earlier pair reported it */
    if (r->out->count == REQUESTS_IN_ALL)
        return request_problem(r, "more than %d requests", REQUESTS_IN_ALL);
    if (read_pair(r, copy) < 0)
        return -1;
    if (r->problems == problems)
        buf_printf(remembered, "%s%.*s", remembered->len ? "," : "", (int)len, text);
    return 0;
}

/* Reads the pairs whose mounts an earlier edit took out. */
static int read_memory(struct request_reader *r, struct buf *remembered)
{
    const char *text = spec_annotation(r->spec, request_remembered);

    r->key = request_remembered;
    while (text && *text) {
        size_t len = strcspn(text, ",");
        if (len && read_remembered_pair(r, text, len, remembered) < 0)
            return -1;
        text += len + (text[len] == ',');
    }
    return 0;
}

static int read_mount(struct request_reader *r, size_t index, size_t *removed,
                      struct buf *remembered)
{
    const struct spec_mount *m = &r->spec->list[index];
    size_t prefix_len = sizeof(REQUEST_DIRECTORY) - 1;

    if (strncmp(m->destination, REQUEST_DIRECTORY, prefix_len) != 0)
        return 0;
    r->key = m->destination;
    if (!m->bind || !m->source || strcmp(m->source, "/dev/null") != 0)
        return request_problem(
            r, "only a bind mount of /dev/null asks for something, as -v /dev/null:%s",
            m->destination);
    removed[r->out->mount_count++] = index;
    return read_remembered_pair(r, m->destination + prefix_len, strlen(m->destination) - prefix_len,
                                remembered);
}

static int read_mounts(struct request_reader *r)
{
    _cleanup_buf_ struct buf remembered = BUF_INIT;
    size_t *removed = arena_alloc(r->arena, (r->spec->mount_count + 1) * sizeof(*removed));

    if (!removed)
        return err_nomem(r->err);
    r->out->mounts = removed;
    if (read_memory(r, &remembered) < 0)
        return -1;
    for (size_t i = 0; i < r->spec->mount_count; i++)
        if (read_mount(r, i, removed, &remembered) < 0)
            return -1;
    if (remembered.len && r->out->mount_count)
        r->out->remembered = arena_strndup(r->arena, remembered.data, remembered.len);
    return remembered.failed || (remembered.len && r->out->mount_count && !r->out->remembered)
               ? err_nomem(r->err)
               : 0;
}

/* ---- the environment ---- */

char *request_variable(const char *class_name, struct arena *arena)
{
    char *text = arena_printf(arena, "%s%s", variable_prefix, class_name);

    for (char *p = text; p && *p; p++)
        *p = policy_variable_char(*p);
    return text;
}

/* Reads the variable of the class `volume`, or of the word if that is NULL. */
static int read_variable(struct request_reader *r, const char *class_name,
                         const struct policy_volume *volume, enum request_word word)
{
    r->key = request_variable(class_name, r->arena);
    if (!r->key)
        return err_nomem(r->err);
    const char *value = spec_env(r->spec, r->key);
    return value && *value ? read_value(r, volume, word, value) : 0;
}

static bool variable_known(const struct request_reader *r, const char *variable,
                           const char *const *names)
{
    if (is_one_of(variable + PREFIX, names))
        return true;
    for (size_t i = 0; i < r->policy->volume_count; i++) {
        const char *a = r->policy->volumes[i].name, *b = variable + PREFIX;
        while (*a && *b == policy_variable_char(*a))
            a++, b++;
        if (!*a && !*b)
            return true;
    }
    return false;
}

/* A variable with the prefix that names no class is most likely a typing mistake. */
static int check_variable(struct request_reader *r, const char *text)
{
    /* Not requests, or read elsewhere: variables that a container is told, or that count wrappers.
     */
    static const char *const others[] = {"PROJECT", "PROFILE", "OFF",   "SHM",
                                         "MEMLOCK", "WORKERS", "DEPTH", NULL};
    size_t len = strcspn(text, "=");
    char *name = arena_strndup(r->arena, text, len);

    if (!name)
        return err_nomem(r->err);
    if (!text[len] || !text[len + 1] || variable_known(r, name, others))
        return 0;
    r->key = name;
    char *written = request_variable(name + PREFIX, r->arena);
    if (written && variable_known(r, written, others))
        return request_problem(r, "nothing is asked for by that name; %s is", written);
    char *lower = arena_strndup(r->arena, name + PREFIX, len - PREFIX);
    for (char *p = lower; p && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return lower && written ? unknown_class(r, lower) : err_nomem(r->err);
}

static int read_environment(struct request_reader *r)
{
    for (size_t i = 0; i < r->policy->volume_count; i++)
        if (read_variable(r, r->policy->volumes[i].name, &r->policy->volumes[i], REQUEST_WORDS) < 0)
            return -1;
    for (int word = 0; word < REQUEST_WORDS; word++) {
        if (word == WORD_TUNING + TUNING_WORKERS) /* its variable tells the container a number */
            continue;
        if (read_variable(r, word_name(word), NULL, (enum request_word)word) < 0)
            return -1;
    }
    size_t most = r->problems + REQUEST_NAMES;
    for (size_t i = 0; i < json_count(r->spec->env) && r->problems < most; i++) {
        const char *text = json_text(r->spec->env->items[i]);
        if (text && strncmp(text, variable_prefix, PREFIX) == 0 && check_variable(r, text) < 0)
            return -1;
    }
    return 0;
}

/* ---- all of them ---- */

const char request_remembered[] = "flatbed.requested";

int requests_read(const struct policy *policy, const struct spec *spec, struct arena *arena,
                  struct requests *out, struct err *err)
{
    static int (*const readers[])(struct request_reader *) = {
        [CARRIER_ANNOTATIONS] = read_annotations,
        [CARRIER_MOUNTS] = read_mounts,
        [CARRIER_ENVIRONMENT] = read_environment,
    };
    struct request_reader r = {
        .policy = policy, .spec = spec, .arena = arena, .out = out, .err = err};

    *out = (struct requests){0};
    r.named = arena_alloc(arena, policy->volume_count + REQUEST_WORDS);
    if (!r.named)
        return err_nomem(err);
    for (size_t i = 0; i < policy->carrier_count; i++) {
        r.carrier = (unsigned char)(i + 1);
        if (readers[policy->carriers[i]](&r) < 0)
            return -1;
    }
    return 0;
}
