#include "shim/call_grammar.h"

#include <stdio.h>
#include <string.h>

enum field {
    FIELD_OTHER,
    FIELD_BUNDLE,
    FIELD_CONFIG,
    FIELD_PROCESS,
    FIELD_LOG,
    FIELD_LOG_FORMAT,
    FIELD_ROOT,
    FIELD_HELP
};

struct option {
    const char *name; /* NULL ends a table */
    const char *letters;
    bool takes_value;
    enum field field;
};

/*
 * runc main takes global options after the command as well; older ones refuse them there, so it
 * does no harm to know them in both places.
 */
#define GLOBAL_OPTIONS                                                                             \
    {"log", "", true, FIELD_LOG}, {"log-format", "", true, FIELD_LOG_FORMAT},                      \
        {"root", "", true, FIELD_ROOT}, {"rootless", "", true, FIELD_OTHER},                       \
        {"debug", "", false, FIELD_OTHER},                                                         \
    {                                                                                              \
        "systemd-cgroup", "", false, FIELD_OTHER                                                   \
    }

#define CREATE_OPTIONS                                                                             \
    {"bundle", "b", true, FIELD_BUNDLE}, {"console-socket", "", true, FIELD_OTHER},                \
        {"pid-file", "", true, FIELD_OTHER}, {"preserve-fds", "", true, FIELD_OTHER},              \
        {"no-pivot", "", false, FIELD_OTHER}, {"no-new-keyring", "", false, FIELD_OTHER},          \
        {"no-subreaper", "", false, FIELD_OTHER}, {"detach", "d", false, FIELD_OTHER},             \
    {                                                                                              \
        "keep", "", false, FIELD_OTHER                                                             \
    }

#define RESTORE_OPTIONS                                                                            \
    {"image-path", "", true, FIELD_OTHER}, {"work-path", "", true, FIELD_OTHER},                   \
        {"manage-cgroups-mode", "", true, FIELD_OTHER}, {"lsm-profile", "", true, FIELD_OTHER},    \
        {"lsm-mount-context", "", true, FIELD_OTHER}, {"empty-ns", "", true, FIELD_OTHER},         \
        {"tcp-established", "", false, FIELD_OTHER}, {"ext-unix-sk", "", false, FIELD_OTHER},      \
        {"shell-job", "", false, FIELD_OTHER}, {"file-locks", "", false, FIELD_OTHER},             \
        {"auto-dedup", "", false, FIELD_OTHER},                                                    \
    {                                                                                              \
        "lazy-pages", "", false, FIELD_OTHER                                                       \
    }

#define EXEC_OPTIONS                                                                               \
    {"process", "p", true, FIELD_PROCESS}, {"apparmor", "", true, FIELD_OTHER},                    \
        {"cap", "c", true, FIELD_OTHER}, {"cgroup", "", true, FIELD_OTHER},                        \
        {"console-socket", "", true, FIELD_OTHER}, {"cwd", "", true, FIELD_OTHER},                 \
        {"env", "e", true, FIELD_OTHER}, {"pid-file", "", true, FIELD_OTHER},                      \
        {"preserve-fds", "", true, FIELD_OTHER}, {"process-label", "", true, FIELD_OTHER},         \
        {"user", "u", true, FIELD_OTHER}, {"detach", "d", false, FIELD_OTHER},                     \
        {"no-new-privs", "", false, FIELD_OTHER},                                                  \
    {                                                                                              \
        "tty", "t", false, FIELD_OTHER                                                             \
    }

static const struct option runc_globals[] = {
    GLOBAL_OPTIONS,
    {"criu", "", true, FIELD_OTHER},
    {"help", "h", false, FIELD_HELP},
    {"version", "v", false, FIELD_OTHER},
    {0},
};

static const struct option runc_command[] = {
    CREATE_OPTIONS, RESTORE_OPTIONS, GLOBAL_OPTIONS, {"help", "h", false, FIELD_HELP}, {0},
};

static const struct option runc_exec[] = {
    EXEC_OPTIONS,
    {"additional-gids", "g", true, FIELD_OTHER},
    {"ignore-paused", "", false, FIELD_OTHER},
    {"no-subreaper", "", false, FIELD_OTHER},
    {"help", "h", false, FIELD_HELP},
    {0},
};

/* --program-name is argp's own. */
static const struct option crun_globals[] = {
    GLOBAL_OPTIONS,
    {"cgroup-manager", "", true, FIELD_OTHER},
    {"log-level", "", true, FIELD_OTHER},
    {"program-name", "", true, FIELD_OTHER},
    {"help", "?", false, FIELD_HELP},
    {"usage", "", false, FIELD_HELP},
    {"version", "vV", false, FIELD_HELP},
    {0},
};

static const struct option crun_create[] = {
    CREATE_OPTIONS,
    {"config", "f", true, FIELD_CONFIG},
    {"program-name", "", true, FIELD_OTHER},
    {"help", "?", false, FIELD_HELP},
    {"usage", "", false, FIELD_HELP},
    {"version", "V", false, FIELD_HELP},
    {0},
};

static const struct option crun_exec[] = {
    EXEC_OPTIONS,
    {"program-name", "", true, FIELD_OTHER},
    {"help", "?", false, FIELD_HELP},
    {"usage", "", false, FIELD_HELP},
    {"version", "V", false, FIELD_HELP},
    {0},
};

static const struct option crun_restore[] = {
    CREATE_OPTIONS,
    RESTORE_OPTIONS,
    {"config", "f", true, FIELD_CONFIG},
    {"program-name", "", true, FIELD_OTHER},
    {"help", "?", false, FIELD_HELP},
    {"usage", "", false, FIELD_HELP},
    {"version", "V", false, FIELD_HELP},
    {0},
};

/* A word list being read. */
struct reader {
    const struct option *table;
    bool unknown_values;
    int argc, at;
    char *const *argv;
    struct reading *out;
};

static void reject(struct reader *r, const char *reason, const char *what)
{
    if (r->out->rejected)
        return;
    r->out->rejected = true;
    snprintf(r->out->reason, sizeof(r->out->reason), "%s: %.80s", reason, what);
}

static const char *next_word(struct reader *r)
{
    return r->at < r->argc ? r->argv[r->at++] : NULL;
}

static void store(struct reader *r, const struct option *o, const char *value)
{
    struct call *call = &r->out->call;

    switch (o->field) {
    case FIELD_BUNDLE:
        call->bundle = *value ? value : NULL;
        break;
    case FIELD_CONFIG:
        call->config = value;
        break;
    case FIELD_PROCESS:
        call->process = *value ? value : NULL;
        break;
    case FIELD_LOG:
        call->log = value;
        break;
    case FIELD_LOG_FORMAT:
        call->log_format = value;
        break;
    case FIELD_ROOT:
        call->root = value;
        break;
    case FIELD_HELP: /* `--help=false` takes it back */
        call->help = !*value;
        break;
    case FIELD_OTHER:
        break;
    }
}

static void unknown_option(struct reader *r, const char *word, bool has_value)
{
    if (!r->out->unknown)
        r->out->unknown = word;
    if (!has_value && r->unknown_values && !next_word(r))
        reject(r, "an option lacks its value", word);
}

/* ---- runc: package flag of Go under urfave/cli, which moves options before operands ---- */

static const struct option *go_lookup(const struct option *table, const char *name, size_t len)
{
    for (const struct option *o = table; o->name; o++) {
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
        if (len == 1 && strchr(o->letters, name[0]) && name[0])
            return o;
    }
    return NULL;
}

static void go_option(struct reader *r, const char *word)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    size_t len = strcspn(name, "=");
    const char *value = name[len] ? name + len + 1 : NULL;

    if (len == 0 || name[0] == '-') {
        reject(r, "not an option", word);
        return;
    }
    const struct option *o = go_lookup(r->table, name, len);
    if (!o) {
        unknown_option(r, word, value != NULL);
        return;
    }
    if (!o->takes_value) {
        store(r, o, value ? value : "");
        return;
    }
    if (!value)
        value = next_word(r);
    if (value)
        store(r, o, value);
    else
        reject(r, "an option lacks its value", word);
}

static bool looks_like_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* Global options: they end at the first word that is none. */
static void go_globals(struct reader *r)
{
    while (r->at < r->argc && looks_like_option(r->argv[r->at])) {
        const char *word = next_word(r);
        if (strcmp(word, "--") == 0)
            return;
        go_option(r, word);
    }
}

static int go_operands(struct reader *r)
{
    int operands = 0;
    bool ended = false;

    while (r->at < r->argc) {
        const char *word = next_word(r);
        if (!ended && strcmp(word, "--") == 0) {
            ended = true;
        } else if (!ended && looks_like_option(word)) {
            go_option(r, word);
        } else {
            r->out->call.id = word;
            operands++;
        }
    }
    return operands;
}

/* ---- crun: argp, in order; the first operand ends the options ---- */

/* The option of that name, or the only one that begins so; *ambiguous if several do. */
static const struct option *argp_long(const struct option *table, const char *name, size_t len,
                                      bool *ambiguous)
{
    const struct option *found = NULL;

    *ambiguous = false;
    for (const struct option *o = table; o->name; o++) {
        if (strncmp(o->name, name, len) != 0)
            continue;
        if (o->name[len] == '\0') {
            *ambiguous = false;
            return o;
        }
        *ambiguous = *ambiguous || found;
        found = o;
    }
    return found;
}

static void argp_long_option(struct reader *r, const char *word)
{
    const char *name = word + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] ? name + len + 1 : NULL;
    bool ambiguous;
    const struct option *o = argp_long(r->table, name, len, &ambiguous);

    if (ambiguous) {
        reject(r, "ambiguous option", word);
    } else if (!o) {
        unknown_option(r, word, value != NULL);
    } else if (!o->takes_value) {
        if (value)
            reject(r, "an option that takes no value", word);
        store(r, o, "");
    } else {
        if (!value)
            value = next_word(r);
        if (!value || (o->field == FIELD_BUNDLE && !*value))
            reject(r, "an option lacks its value", word);
        else
            store(r, o, value);
    }
}

static const struct option *argp_letter(const struct option *table, char letter)
{
    for (const struct option *o = table; o->name; o++)
        if (strchr(o->letters, letter))
            return o;
    return NULL;
}

static void argp_cluster(struct reader *r, const char *word)
{
    for (const char *p = word + 1; *p; p++) {
        const struct option *o = argp_letter(r->table, *p);
        if (!o && !r->out->unknown)
            r->out->unknown = word;
        if (!(o ? o->takes_value : r->unknown_values)) {
            if (o)
                store(r, o, "");
            continue;
        }
        const char *value = p[1] ? p + 1 : next_word(r);
        if (!value || (o && o->field == FIELD_BUNDLE && !*value))
            reject(r, "an option lacks its value", word);
        else if (o)
            store(r, o, value);
        return;
    }
}

static void argp_options(struct reader *r)
{
    while (r->at < r->argc && looks_like_option(r->argv[r->at]) && !r->out->call.help) {
        const char *word = next_word(r);
        if (strcmp(word, "--") == 0)
            return;
        if (word[1] == '-')
            argp_long_option(r, word);
        else
            argp_cluster(r, word);
    }
}

static int argp_operands(struct reader *r)
{
    argp_options(r);
    int operands = r->argc - r->at;
    r->out->call.id = next_word(r);
    return operands;
}

/* ---- both ---- */

bool grammar_command_creates(const char *command)
{
    return command && (strcmp(command, "create") == 0 || strcmp(command, "run") == 0 ||
                       strcmp(command, "restore") == 0);
}

bool grammar_command_known(const char *command)
{
    static const char *const names[] = {
        "checkpoint", "create", "delete",  "events", "exec",   "features", "h",
        "help",       "kill",   "list",    "mounts", "pause",  "ps",       "restore",
        "resume",     "run",    "spec",    "start",  "state",  "update",   "version",
        "init",       "info",   "metrics", "check",  "daemon",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], command) == 0)
            return true;
    return false;
}

static const struct option *crun_table(const char *command)
{
    return strcmp(command, "restore") == 0 ? crun_restore : crun_create;
}

/* Both end the options at the first operand here. What they would refuse is theirs to refuse. */
static void read_exec(struct reader *r, bool crun)
{
    bool rejected = r->out->rejected;

    r->table = crun ? crun_exec : runc_exec;
    if (crun)
        argp_options(r);
    else
        go_globals(r);
    r->out->call.id = next_word(r);
    if (r->out->rejected && !rejected) {
        r->out->rejected = false;
        r->out->call.process = NULL;
    }
}

void grammar_read(enum call_flavor flavor, bool unknown_values, int argc, char *const argv[],
                  struct reading *out)
{
    bool crun = flavor == FLAVOR_CRUN;
    struct reader r = {
        .table = crun ? crun_globals : runc_globals,
        .unknown_values = unknown_values,
        .argc = argc,
        .argv = argv,
        .out = out,
    };

    *out = (struct reading){0};
    if (crun)
        argp_options(&r);
    else
        go_globals(&r);
    if (out->call.help)
        return;
    out->call.command = next_word(&r);
    if (out->call.command && strcmp(out->call.command, "exec") == 0)
        read_exec(&r, crun);
    if (!grammar_command_creates(out->call.command))
        return;
    r.table = crun ? crun_table(out->call.command) : runc_command;
    int operands = crun ? argp_operands(&r) : go_operands(&r);
    if (operands != 1 && !out->call.help)
        reject(&r, operands ? "more than one container id" : "no container id", out->call.command);
}
