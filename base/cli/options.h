/*
 * Command lines from a table: one row an option drives parsing, --help, shell completion and the
 * check that the man page names the same options.
 *
 * Grammar: `--name`, `--name=VALUE`, `--name VALUE`, `-n`, `-nVALUE`, `-n VALUE`, flags in a
 * cluster
 * (`-qf`), options and operands in any order, `--` ends the options, `-` is an operand. The last of
 * a repeated option wins, unless it is a list.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char *, borrowed from argv */
    OPTION_FILE,    /* const char *, a path: completed as one */
    OPTION_CHOICE,  /* const char *, one of `choices` */
    OPTION_NUMBER,  /* uint64_t, decimal */
    OPTION_SECONDS, /* uint64_t, from 1 on: "30" or "30s" */
    OPTION_LIST,    /* struct option_list: every value of a repeated option, in order */
};

enum { OPTION_LIST_MOST = 64 };

struct option_list {
    const char *items[OPTION_LIST_MOST]; /* borrowed from argv */
    size_t count;
};

struct option_spec {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* or 0 */
    enum option_kind kind;
    size_t offset;              /* of the field in the target that options_parse fills */
    const char *metavar;        /* NULL for flags */
    const char *const *choices; /* NULL-terminated, for OPTION_CHOICE */
    const char *help;           /* one sentence, no full stop */
};

enum operand_kind { OPERANDS_NONE, OPERANDS_FILES };

struct command_spec {
    const char *program; /* the program, for messages; or NULL */
    const char *name;
    const char *operands; /* as the usage line shows them */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs for --help, or NULL */
    const struct option_spec *options;
    int min_operands, max_operands; /* max -1: no limit */
    enum operand_kind completes;
};

struct program_spec {
    const char *name;
    const char *summary;
    const char *details;                        /* for --help: examples, exit codes */
    const struct command_spec *const *commands; /* NULL-terminated */
    const struct command_spec *fallback;        /* runs if no command is named; or NULL */
    const char *asks; /* the answer to a line without words: "which image?" */
};

struct operands {
    const char **list; /* in argv's order; owned by the caller, free(list) */
    int count;
};

/*
 * Returns the command that argv[1] names, and in *skip how many words come before its own. A word
 * that is no command belongs to the fallback; without a fallback it is ERR_USAGE with a suggestion,
 * and NULL is returned.
 */
const struct command_spec *options_command(const struct program_spec *program, int argc,
                                           char *const argv[], int *skip,
                                           struct err *err) must_check;

/*
 * Parses words (without program and command names) into `target` and `operands`. Every command has
 * `--help`: *help is set and nothing else is checked. Fails with ERR_USAGE.
 */
int options_parse(const struct command_spec *command, int argc, char *const argv[], void *target,
                  struct operands *operands, bool *help, struct err *err) must_check;

void options_help_program(const struct program_spec *program, struct buf *out);
void options_help_command(const struct program_spec *program, const struct command_spec *command,
                          struct buf *out);

/* Appends a completion script. `shell` is "bash", "zsh" or "fish", else ERR_USAGE. */
int options_complete(const struct program_spec *program, const char *shell, struct buf *out,
                     struct err *err) must_check;

#endif
