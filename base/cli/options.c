#include "base/cli/options.h"

#include "base/cli/suggest.h"

#include <stdint.h>
#include <string.h>

enum { MOST_NAMES = 64, NAME_SIZE = 64 };

static const struct option_spec *by_name(const struct command_spec *c, const char *name, size_t len)
{
    for (const struct option_spec *o = c->options; o && o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static const struct option_spec *by_letter(const struct command_spec *c, char letter)
{
    for (const struct option_spec *o = c->options; o && o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* Writes the command as it is typed, such as "flatten squash", for messages. Returns out. */
static const char *full_name(const struct command_spec *c, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%s%s%s", c->program ? c->program : "", c->program ? " " : "",
             c->name);
    return out;
}

static int unknown_option(const struct command_spec *c, const char *name, size_t len,
                          struct err *err)
{
    const char *names[MOST_NAMES] = {"help"};
    char where[NAME_SIZE];
    size_t count = 1;
    _cleanup_free_ char *word = strndup(name, len);

    for (const struct option_spec *o = c->options; o && o->name && count < MOST_NAMES; o++)
        names[count++] = o->name;
    const char *near = word ? suggest_nearest(word, names, count) : NULL;
    if (near)
        return err_set(err, ERR_USAGE, "unknown option '--%.*s'; did you mean '--%s'?", (int)len,
                       name, near);
    return err_set(err, ERR_USAGE, "unknown option '--%.*s'; see '%s --help'", (int)len, name,
                   full_name(c, where));
}

static int bad_choice(const struct option_spec *o, const char *value, struct err *err)
{
    _cleanup_buf_ struct buf list = BUF_INIT;

    for (size_t i = 0; o->choices[i]; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", o->choices[i]);
    return err_set(err, ERR_USAGE, "--%s=%s: expected one of %s", o->name, value,
                   list.data ? list.data : "");
}

static int store_item(const struct option_spec *o, const char *value, struct option_list *list,
                      struct err *err)
{
    if (list->count == OPTION_LIST_MOST)
        return err_set(err, ERR_LIMIT, "--%s: more than %d times", o->name, OPTION_LIST_MOST);
    list->items[list->count++] = value;
    return 0;
}

/* Reads a decimal number that only `unit` may follow. */
static bool read_number(const char *value, const char *unit, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(value, &end, 10);
    return !errno && end != value && strchr("0123456789", value[0]) &&
           (!*end || strcmp(end, unit) == 0);
}

static int store(const struct option_spec *o, const char *value, void *target, struct err *err)
{
    void *field = (char *)target + o->offset;

    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_CHOICE:
        for (size_t i = 0; o->choices[i]; i++) {
            if (strcmp(o->choices[i], value) == 0) {
                *(const char **)field = value;
                return 0;
            }
        }
        return bad_choice(o, value, err);
    case OPTION_TEXT:
    case OPTION_FILE:
        *(const char **)field = value;
        return 0;
    case OPTION_LIST:
        return store_item(o, value, field, err);
    case OPTION_NUMBER:
        if (!read_number(value, "", field))
            return err_set(err, ERR_USAGE, "--%s=%s: expected a whole number", o->name, value);
        return 0;
    case OPTION_SECONDS:
        if (!read_number(value, "s", field) || *(uint64_t *)field == 0)
            return err_set(err, ERR_USAGE, "--%s=%s: expected seconds, such as 30 or 30s", o->name,
                           value);
        return 0;
    }
    return err_set(err, ERR_USAGE, "--%s: unknown kind of option", o->name);
}

struct words {
    int argc;
    char *const *argv;
    int at;
};

/*
 * Returns the value of an option that takes one: the attached text, else the next word; NULL with
 * an error if there is none.
 */
static const char *value_of(const struct option_spec *o, const char *attached, struct words *w,
                            struct err *err)
{
    if (attached)
        return attached;
    if (w->at + 1 < w->argc)
        return w->argv[++w->at];
    err_set(err, ERR_USAGE, "--%s needs %s", o->name, o->metavar);
    return NULL;
}

static int parse_long(const struct command_spec *c, struct words *w, void *target, bool *help,
                      struct err *err)
{
    const char *name = w->argv[w->at] + 2;
    size_t len = strcspn(name, "=");
    const char *attached = name[len] ? name + len + 1 : NULL;

    if (len == 4 && memcmp(name, "help", 4) == 0) {
        *help = true;
        return 0;
    }
    const struct option_spec *o = by_name(c, name, len);
    if (!o)
        return unknown_option(c, name, len, err);
    if (o->kind == OPTION_FLAG) {
        if (attached)
            return err_set(err, ERR_USAGE, "--%s takes no value", o->name);
        return store(o, NULL, target, err);
    }
    const char *value = value_of(o, attached, w, err);
    return value ? store(o, value, target, err) : -1;
}

static int parse_letters(const struct command_spec *c, struct words *w, void *target, bool *help,
                         struct err *err)
{
    char where[NAME_SIZE];

    for (const char *p = w->argv[w->at] + 1; *p; p++) {
        const struct option_spec *o = by_letter(c, *p);
        if (!o && *p == 'h') {
            *help = true;
            return 0;
        }
        if (!o)
            return err_set(err, ERR_USAGE, "unknown option '-%c'; see '%s --help'", *p,
                           full_name(c, where));
        if (o->kind != OPTION_FLAG) {
            const char *value = value_of(o, p[1] ? p + 1 : NULL, w, err);
            return value ? store(o, value, target, err) : -1;
        }
        if (store(o, NULL, target, err) < 0)
            return -1;
    }
    return 0;
}

static int check_count(const struct command_spec *c, int count, struct err *err)
{
    char where[NAME_SIZE];

    if (count < c->min_operands)
        return err_set(err, ERR_USAGE, "%s needs %s; see '%s --help'", c->name, c->operands,
                       full_name(c, where));
    if (c->max_operands >= 0 && count > c->max_operands)
        return err_set(err, ERR_USAGE, "%s takes %s and no more; see '%s --help'", c->name,
                       c->max_operands ? c->operands : "no operand", full_name(c, where));
    return 0;
}

int options_parse(const struct command_spec *command, int argc, char *const argv[], void *target,
                  struct operands *operands, bool *help, struct err *err)
{
    struct words w = {.argc = argc, .argv = argv};
    bool options_ended = false;

    *help = false;
    operands->count = 0;
    operands->list = calloc((size_t)argc + 1, sizeof(*operands->list));
    if (!operands->list)
        return err_nomem(err);
    for (; w.at < argc && !*help; w.at++) {
        const char *word = argv[w.at];
        int rc = 0;

        if (options_ended || word[0] != '-' || word[1] == '\0')
            operands->list[operands->count++] = word;
        else if (strcmp(word, "--") == 0)
            options_ended = true;
        else if (word[1] == '-')
            rc = parse_long(command, &w, target, help, err);
        else
            rc = parse_letters(command, &w, target, help, err);
        if (rc < 0)
            return -1;
    }
    return *help ? 0 : check_count(command, operands->count, err);
}

/* Too many operands for the default command: the first may be a mistyped command. */
static bool is_mistyped(const struct command_spec *fallback, int argc, char *const argv[],
                        const char *const *names, size_t count, struct err *err)
{
    const char *near = argc > 1 ? suggest_nearest(argv[1], names, count) : NULL;
    int words = 0;

    for (int i = 1; i < argc; i++)
        words += argv[i][0] != '-';
    if (!near || fallback->max_operands < 0 || words <= fallback->max_operands)
        return false;
    err_set(err, ERR_USAGE, "unknown command '%s'; did you mean '%s'?", argv[1], near);
    return true;
}

const struct command_spec *options_command(const struct program_spec *program, int argc,
                                           char *const argv[], int *skip, struct err *err)
{
    const char *names[MOST_NAMES];
    size_t count = 0;

    for (; program->commands[count] && count < MOST_NAMES; count++) {
        names[count] = program->commands[count]->name;
        if (argc > 1 && strcmp(argv[1], names[count]) == 0) {
            *skip = 2;
            return program->commands[count];
        }
    }
    *skip = 1;
    if (program->fallback && !is_mistyped(program->fallback, argc, argv, names, count, err))
        return program->fallback;
    if (program->fallback)
        return NULL;
    if (argc < 2) {
        err_set(err, ERR_USAGE, "which command? see '%s --help'", program->name);
        return NULL;
    }
    const char *near = suggest_nearest(argv[1], names, count);
    err_set(err, ERR_USAGE, "unknown command '%s'%s%s%s; see '%s --help'", argv[1],
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", program->name);
    return NULL;
}
