#include "shim/call.h"

#include "shim/call_grammar.h"

#include <string.h>

static const char own_prefix[] = "--flatbed-";

/* The value of "NAME=VALUE" if word is that option; NULL otherwise. */
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

int call_own_parse(int argc, char *const argv[], struct call_own *out, struct err *err)
{
    *out = (struct call_own){0};
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], own_prefix, sizeof(own_prefix) - 1) != 0)
            break;
        if (own_option(argv[i], out, err) < 0)
            return -1;
        out->count++;
    }
    return 0;
}

bool call_edits(const struct call *call)
{
    return !call->help && grammar_command_creates(call->command);
}

bool call_execs(const struct call *call)
{
    return !call->help && call->command && strcmp(call->command, "exec") == 0 && call->id &&
           call->process;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_call(const struct call *a, const struct call *b)
{
    return same_text(a->command, b->command) && same_text(a->bundle, b->bundle) &&
           same_text(a->config, b->config) && same_text(a->id, b->id) &&
           same_text(a->process, b->process) && same_text(a->log, b->log) &&
           same_text(a->log_format, b->log_format) && same_text(a->root, b->root) &&
           a->help == b->help;
}

enum { MOST_READINGS = 4 };

/* Every reading that the grammars in question allow, without those that the runtime refuses. */
static int readings(int argc, char *const argv[], enum call_flavor flavor,
                    struct reading out[MOST_READINGS], struct reading *refused)
{
    int count = 0;

    *refused = (struct reading){0};
    for (enum call_flavor f = FLAVOR_RUNC; f <= FLAVOR_CRUN; f++) {
        bool again = true;
        for (int values = 0; values < 2 && again; values++) {
            struct reading r;
            if (flavor != FLAVOR_UNKNOWN && flavor != f)
                break;
            grammar_read(f, values != 0, argc, argv, &r);
            again = r.unknown != NULL;
            if (!r.rejected)
                out[count++] = r;
            else if (!refused->rejected)
                *refused = r;
        }
    }
    return count;
}

static bool any_creates(const struct reading *list, int count)
{
    for (int i = 0; i < count; i++)
        if (call_edits(&list[i].call))
            return true;
    return false;
}

/*
 * A reading whose command does not exist is one that the runtime refuses: it must not stand
 * against one that makes sense.
 */
static int drop_senseless(struct reading *list, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (!list[i].call.command || grammar_command_known(list[i].call.command))
            list[kept++] = list[i];
    return kept;
}

static int tell_apart(const struct reading *list, int count)
{
    for (int i = 1; i < count; i++)
        if (!same_call(&list[0].call, &list[i].call))
            return 1;
    return 0;
}

int call_read(int argc, char *const argv[], enum call_flavor flavor, struct call *out,
              struct err *err)
{
    struct reading list[MOST_READINGS], refused;
    int count = readings(argc, argv, flavor, list, &refused);

    if (count == 0) {
        *out = refused.call;
        return err_set(err, ERR_USAGE, "cannot read this command line (%s)", refused.reason);
    }
    bool creates = any_creates(list, count);
    if (creates)
        count = drop_senseless(list, count);
    *out = list[0].call;
    int apart = tell_apart(list, count);
    if (!creates && apart)
        out->process = NULL;
    if (!creates || !apart)
        return 0;
    if (flavor == FLAVOR_UNKNOWN)
        return 1;
    return err_set(err, ERR_USAGE, "the option '%s' is not known, and the line has two meanings",
                   list[0].unknown ? list[0].unknown : "?");
}
