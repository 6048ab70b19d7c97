#include "shim/runtime/call/call_read.h"

#include "shim/runtime/call/call_grammar.h"

#include <string.h>

static const char own_prefix[] = "--flatbed-";

/* Returns the value of "NAME=VALUE" if word is that option; else NULL. */
static const char *own_value(const char *word, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(word, name, len) != 0 || word[len] != '=' || !word[len + 1])
        return NULL;
    return word + len + 1;
}

static int own_option(const char *word, struct call_own *out, struct err *err)
{
    const char *name = word + sizeof(own_prefix) - 1, *value;

    if ((value = own_value(name, "policy")))
        out->policy = value;
    else if ((value = own_value(name, "runtime")))
        out->runtime = value;
    else if (strcmp(name, "version") == 0)
        out->version = true;
    else
        return err_set(err, ERR_USAGE,
                       "unknown option '%s'; there are --flatbed-policy=FILE, "
                       "--flatbed-runtime=PATH and --flatbed-version",
                       word);
    return 0;
}

static bool is_own(const char *word)
{
    return strncmp(word, own_prefix, sizeof(own_prefix) - 1) == 0;
}

/*
 * Returns how many words to skip if one of our own options is wrong: "--flatbed-policy /file" has
 * one too many.
 */
static int skip_own(int argc, char *const argv[])
{
    int count = 0;

    while (count < argc && (is_own(argv[count]) || (count && argv[count][0] == '/')))
        count++;
    return count;
}

int call_own_parse(int argc, char *const argv[], struct call_own *out, struct err *err)
{
    *out = (struct call_own){0};
    for (int i = 0; i < argc && is_own(argv[i]); i++) {
        if (own_option(argv[i], out, err) < 0) {
            out->count = skip_own(argc, argv);
            return -1;
        }
        out->count++;
    }
    return 0;
}

static bool creates(enum call_verb verb)
{
    return verb == VERB_CREATE || verb == VERB_RUN || verb == VERB_RESTORE;
}

bool call_edits(const struct call *call)
{
    return !call->help && creates(call->verb);
}

bool call_execs(const struct call *call)
{
    return !call->help && call->verb == VERB_EXEC && call->id;
}

bool call_starts(const struct call *call)
{
    return !call->help && call->verb == VERB_START && call->id;
}

bool call_updates(const struct call *call)
{
    return !call->help && call->verb == VERB_UPDATE && call->id && call->resources;
}

bool call_deletes(const struct call *call)
{
    return !call->help && call->verb == VERB_DELETE && call->id;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_call(const struct call *a, const struct call *b)
{
    return same_text(a->command, b->command) && same_text(a->bundle, b->bundle) &&
           same_text(a->config, b->config) && same_text(a->id, b->id) &&
           same_text(a->process, b->process) && same_text(a->resources, b->resources) &&
           same_text(a->cgroup, b->cgroup) && same_text(a->preserve_fds, b->preserve_fds) &&
           same_text(a->log, b->log) && same_text(a->log_format, b->log_format) &&
           same_text(a->root, b->root) && a->help == b->help && a->no_cgroup == b->no_cgroup;
}

enum { MOST_READINGS = 10 };

struct readings {
    struct reading list[MOST_READINGS]; /* readings that the runtime accepts */
    int count;
    struct reading refused; /* the first reading that it refuses */
    bool refused_judged;    /* one of the refused readings has a command that a policy judges */
};

/* Returns true for commands of which no reading may be wrong. */
static bool is_judged(enum call_verb verb)
{
    return creates(verb) || verb == VERB_EXEC || verb == VERB_START || verb == VERB_UPDATE;
}

static void add_reading(struct readings *all, const struct reading *r)
{
    if (!r->rejected) {
        all->list[all->count++] = *r;
        return;
    }
    if (!all->refused.rejected)
        all->refused = *r;
    all->refused_judged = all->refused_judged || is_judged(r->call.verb);
}

/* Collects the readings under all grammars in question. */
static void read_all(int argc, char *const argv[], enum lowlevel_flavor flavor,
                     struct readings *all)
{
    static const struct grammar grammars[] = {
        {.flavor = FLAVOR_RUNC},
        {.flavor = FLAVOR_RUNC, .newer = true},
        {.flavor = FLAVOR_RUNC, .later_reorder = true},
        {.flavor = FLAVOR_RUNC, .newer = true, .later_reorder = true},
        {.flavor = FLAVOR_CRUN},
    };

    all->count = 0;
    all->refused = (struct reading){0};
    all->refused_judged = false;
    for (size_t i = 0; i < sizeof(grammars) / sizeof(*grammars); i++) {
        struct grammar g = grammars[i];
        struct reading r;
        if (flavor != FLAVOR_UNKNOWN && flavor != g.flavor)
            continue;
        grammar_read(&g, argc, argv, &r);
        add_reading(all, &r);
        if (!r.call.unknown)
            continue;
        g.unknown_values = true;
        grammar_read(&g, argc, argv, &r);
        add_reading(all, &r);
    }
}

static bool any_judged(const struct reading *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!list[i].call.help && is_judged(list[i].call.verb))
            return true;
    return false;
}

/*
 * Drops readings whose command does not exist: the runtime refuses those lines, and they must not
 * stand against a reading that makes sense.
 */
static int drop_unknown_commands(struct reading *list, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (list[i].call.verb != VERB_UNKNOWN)
            list[kept++] = list[i];
    return kept;
}

static bool readings_differ(const struct reading *list, int count)
{
    for (int i = 1; i < count; i++)
        if (!same_call(&list[0].call, &list[i].call))
            return true;
    return false;
}

/* Returns the id of the readings that have one, or NULL if these differ. */
static const char *agreed_id(const struct reading *list, int count)
{
    const char *id = NULL;

    for (int i = 0; i < count; i++) {
        if (list[i].call.id && id && strcmp(list[i].call.id, id) != 0)
            return NULL;
        id = list[i].call.id ? list[i].call.id : id;
    }
    return id;
}

/* Returns an option that one of the readings does not know, or NULL. */
static const char *first_unknown(const struct reading *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].call.unknown)
            return list[i].call.unknown;
    return NULL;
}

static const char *advice(const struct call *call)
{
    if (call->verb == VERB_EXEC)
        return ": write each option by itself and in full, as in: exec --detach --process FILE ID";
    if (call->verb == VERB_UPDATE)
        return ": write each option by itself and in full, as in: update --resources FILE ID";
    return "";
}

int call_read(int argc, char *const argv[], enum lowlevel_flavor flavor, struct call *out,
              struct err *err)
{
    struct readings all;

    read_all(argc, argv, flavor, &all);
    bool judged = any_judged(all.list, all.count);
    if (judged)
        all.count = drop_unknown_commands(all.list, all.count);
    *out = all.count ? all.list[0].call : all.refused.call;
    bool apart = all.count && readings_differ(all.list, all.count);
    if (!judged && apart)
        out->id = agreed_id(all.list, all.count);
    /* If any grammar would create a container or exec, a reading that does nothing is no proof. */
    bool doubtful = !judged && all.refused_judged;
    if (all.count == 0 || (doubtful && flavor != FLAVOR_UNKNOWN))
        return err_set(err, ERR_USAGE, "cannot read this command line (%s)%s", all.refused.reason,
                       advice(&all.refused.call));
    if (call_deletes(out) && grammar_id_is_path(out->id))
        return err_set(err, ERR_USAGE, "'%s' is not a container id", out->id);
    if (!doubtful && (!judged || !apart))
        return CALL_CLEAR;
    if (flavor == FLAVOR_UNKNOWN)
        return CALL_AMBIGUOUS;
    const char *unknown = first_unknown(all.list, all.count);
    if (!unknown)
        return err_set(err, ERR_USAGE, "versions of the runtime read this line differently%s",
                       advice(out));
    return err_set(err, ERR_USAGE, "the option '%s' is not known, and the line has two meanings%s",
                   unknown, advice(out));
}
