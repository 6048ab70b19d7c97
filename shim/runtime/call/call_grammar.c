#include "shim/runtime/call/call_grammar.h"

#include "shim/runtime/call/call_options.h"

#include <stdio.h>
#include <string.h>

/* A list of words being read. */
struct reader {
    const struct option *table;
    unsigned command; /* IN_*: options of other commands are refused; 0: all options of the table
                         are known */
    bool newer, later_reorder, unknown_values;
    bool empty_bundle; /* the last bundle given is empty: none to runc, an error to crun */
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
        r->empty_bundle = !*value;
        break;
    case FIELD_CONFIG:
        call->config = value;
        break;
    case FIELD_PROCESS:
        call->process = *value ? value : NULL;
        break;
    case FIELD_RESOURCES:
        call->resources = *value ? value : NULL;
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
    case FIELD_CGROUP:
        call->cgroup = value;
        break;
    case FIELD_CGROUPS:
        call->no_cgroup = strcmp(value, "disabled") == 0;
        break;
    case FIELD_PRESERVE:
        call->preserve_fds = value;
        break;
    case FIELD_OTHER:
        break;
    }
}

static void unknown_option(struct reader *r, const char *word, bool has_value)
{
    if (!r->out->call.unknown)
        r->out->call.unknown = word;
    if (!has_value && r->unknown_values && !next_word(r))
        reject(r, "an option lacks its value", word);
}

/*
 * ---- runc: package flag of Go, under urfave/cli 1.22 ----
 *
 * Behind the command, reorderArgs() first moves every known option of the command to the front. An
 * option without "=" takes the next word along, whether or not it takes a value: the next one that
 * does not begin with "-" (wherever that is), or, in later versions, any that is not a known
 * option. It stops at "--", which later versions put before the words that were not moved. Then
 * package flag reads the words, up to the first that is no option.
 */

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
    if (o && r->command && !(o->in & r->command)) {
        reject(r, "not an option of this command", word);
        return;
    }
    if (!o) {
        unknown_option(r, word, value != NULL);
        return;
    }
    if (o->operand != VALUE) {
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

/* Reads options up to the first word that is none. */
static void go_options(struct reader *r)
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
    go_options(r);
    int operands = r->argc - r->at;
    r->out->call.id = next_word(r);
    return operands;
}

/* argIsFlag(): true for the name of an option behind one, two or three dashes. */
static bool go_is_known(const struct reader *r, const char *word)
{
    if (!looks_like_option(word))
        return false;
    const char *name = word + 1;
    if (word[1] == '-')
        name += name[1] == '-' ? 2 : 1;
    size_t len = strcspn(name, "=");
    const struct option *o = len ? go_lookup(r->table, name, len) : NULL;
    return o ? !r->command || (o->in & r->command) : r->newer;
}

/* Returns true if the word is moved as the value of the known option before it. */
static bool go_is_value(const struct reader *r, const char *word)
{
    return r->later_reorder ? !go_is_known(r, word) : word[0] != '-';
}

/*
 * reorderArgs(): fills `words`, which has room for twice as many, with the words in their new
 * order. Returns their number.
 */
static int go_reorder(const struct reader *r, char **words)
{
    char **kept = words + (r->argc - r->at) + 1;
    int moved_count = 0, kept_count = 0, i = r->at;
    bool may_be_value = false;

    for (; i < r->argc; i++) {
        char *word = r->argv[i];
        bool delimits = strcmp(word, "--") == 0;
        if (may_be_value && go_is_value(r, word)) {
            may_be_value = false;
            words[moved_count++] = word;
        } else if (delimits) {
            break;
        } else if (go_is_known(r, word)) {
            may_be_value = !strchr(word, '=');
            words[moved_count++] = word;
        } else {
            kept[kept_count++] = word;
        }
    }
    if (i < r->argc && r->later_reorder)
        words[moved_count++] = r->argv[i++];
    for (int k = 0; k < kept_count; k++)
        words[moved_count++] = kept[k];
    while (i < r->argc)
        words[moved_count++] = r->argv[i++];
    return moved_count;
}

static int go_command(struct reader *r)
{
    int count = r->argc - r->at;
    _cleanup_free_ char **words = calloc(2 * ((size_t)count + 1), sizeof(*words));

    if (!words) {
        reject(r, "out of memory", "");
        return 1;
    }
    r->argc = go_reorder(r, words);
    r->argv = words;
    r->at = 0;
    int operands = go_operands(r);
    r->argv = NULL;
    r->argc = 0;
    return operands;
}

/* ---- crun: argp, in order; the first operand ends the options ---- */

/* Returns the option of that name, or the only one that begins so; *ambiguous if several do. */
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
    } else if (o->operand != VALUE) {
        if (value && o->operand == FLAG)
            reject(r, "an option that takes no value", word);
        store(r, o, "");
    } else {
        if (!value)
            value = next_word(r);
        if (!value)
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
        if (!o && !r->out->call.unknown)
            r->out->call.unknown = word;
        if (o && o->operand == ATTACHED)
            return; /* the rest is its value */
        if (!(o ? o->operand == VALUE : r->unknown_values)) {
            if (o)
                store(r, o, "");
            continue;
        }
        const char *value = p[1] ? p + 1 : next_word(r);
        if (!value)
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
    if (r->empty_bundle)
        reject(r, "an empty bundle", "");
    int operands = r->argc - r->at;
    r->out->call.id = next_word(r);
    return operands;
}

/* ---- both ---- */

static enum call_verb find_verb(const char *command)
{
    static const struct {
        const char *name;
        enum call_verb verb;
    } commands[] = {
        {"create", VERB_CREATE},  {"run", VERB_RUN},          {"restore", VERB_RESTORE},
        {"exec", VERB_EXEC},      {"start", VERB_START},      {"update", VERB_UPDATE},
        {"delete", VERB_DELETE},  {"checkpoint", VERB_OTHER}, {"events", VERB_OTHER},
        {"features", VERB_OTHER}, {"h", VERB_OTHER},          {"help", VERB_OTHER},
        {"kill", VERB_OTHER},     {"list", VERB_OTHER},       {"mounts", VERB_OTHER},
        {"pause", VERB_OTHER},    {"ps", VERB_OTHER},         {"resume", VERB_OTHER},
        {"spec", VERB_OTHER},     {"state", VERB_OTHER},      {"version", VERB_OTHER},
        {"init", VERB_OTHER},     {"info", VERB_OTHER},       {"metrics", VERB_OTHER},
        {"check", VERB_OTHER},    {"daemon", VERB_OTHER},
    };

    if (!command)
        return VERB_NONE;
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        if (strcmp(commands[i].name, command) == 0)
            return commands[i].verb;
    return VERB_UNKNOWN;
}

/* Reads options and operands. Returns the number of operands. */
static int read_operands(struct reader *r, bool crun, const struct option *of_crun,
                         const struct option *of_runc)
{
    r->table = crun ? of_crun : of_runc;
    return crun ? argp_operands(r) : go_command(r);
}

bool grammar_id_is_path(const char *id)
{
    return !*id || strchr(id, '/') || strcmp(id, ".") == 0 || strcmp(id, "..") == 0;
}

static void check_id(struct reader *r)
{
    const char *id = r->out->call.id;

    if (id && grammar_id_is_path(id))
        reject(r, "not a container id", id);
}

/* Rejects a line with another number of operands than the container's id. */
static void need_id(struct reader *r, int operands)
{
    if (operands != 1 && !r->out->call.help)
        reject(r, operands ? "more than one container id" : "no container id",
               r->out->call.command);
    check_id(r);
}

/* Reads the options of exec, which end at the first operand in both grammars. */
static void read_exec(struct reader *r, bool crun)
{
    r->table = crun ? call_crun_exec : call_runc_exec;
    if (crun)
        argp_options(r);
    else
        go_options(r);
    r->out->call.id = next_word(r);
    check_id(r);
}

/* Reads a delete. One that the runtime would refuse has no id. */
static void read_delete(struct reader *r, bool crun)
{
    bool rejected = r->out->rejected;

    int operands = read_operands(r, crun, call_crun_delete, call_runc_delete);
    if (operands != 1 || r->out->rejected)
        r->out->call.id = NULL;
    r->out->rejected = rejected;
}

static void read_create(struct reader *r, bool crun, unsigned in, const struct option *of_crun)
{
    r->command = crun || r->newer ? 0 : in;
    need_id(r, read_operands(r, crun, of_crun, call_runc_command));
}

void grammar_read(const struct grammar *grammar, int argc, char *const argv[], struct reading *out)
{
    bool crun = grammar->flavor == FLAVOR_CRUN;
    struct reader r = {
        .table = crun ? call_crun_globals : call_runc_globals,
        .newer = grammar->newer,
        .later_reorder = grammar->later_reorder,
        .unknown_values = grammar->unknown_values,
        .argc = argc,
        .argv = argv,
        .out = out,
    };

    *out = (struct reading){0};
    if (crun)
        argp_options(&r);
    else
        go_options(&r);
    if (out->call.help)
        return;
    out->call.command = next_word(&r);
    out->call.verb = find_verb(out->call.command);
    switch (out->call.verb) {
    case VERB_CREATE:
        read_create(&r, crun, IN_CREATE, call_crun_create);
        break;
    case VERB_RUN:
        read_create(&r, crun, IN_RUN, call_crun_create);
        break;
    case VERB_RESTORE:
        read_create(&r, crun, IN_RESTORE, call_crun_restore);
        break;
    case VERB_EXEC:
        read_exec(&r, crun);
        break;
    case VERB_START:
        need_id(&r, read_operands(&r, crun, call_crun_start, call_runc_start));
        break;
    case VERB_UPDATE:
        /* Every runc takes the "-" of `--resources -`, which containerd writes, for the value. */
        r.later_reorder = true;
        need_id(&r, read_operands(&r, crun, call_crun_update, call_runc_update));
        break;
    case VERB_DELETE:
        read_delete(&r, crun);
        break;
    case VERB_NONE:
    case VERB_UNKNOWN:
    case VERB_OTHER:
        break;
    }
}
