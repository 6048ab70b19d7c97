/*
 * What every program with commands does around them: standard descriptors, --help, --version and
 * --completion, and finding the command that a line names.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/cleanup.h"
#include "base/cli/options.h"

/*
 * Runs with the words after the command's name. The exit status, or -1 with an error that `main`
 * prints and turns into one. *help: the user asked for help, nothing was done.
 */
typedef int command_run(int argc, char *const argv[], bool *help, struct err *err);

/* With a standard descriptor closed, the next file opened would get its number, and our words. */
void program_fill_standard_descriptors(void);

/* `runs` has one for each of the program's commands. The exit status, or -1 with an error. */
int program_run(const struct program_spec *program, command_run *const runs[], int argc,
                char *const argv[], struct err *err) must_check;

/* Writes it to standard output. */
int program_print(const struct buf *text, struct err *err) must_check;

#endif
