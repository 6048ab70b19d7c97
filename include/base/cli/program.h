/*
 * The frame of a program with commands: standard descriptors, --help, --version and --completion,
 * and finding the command that a line names.
 */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/cleanup.h"
#include "base/cli/options.h"

/*
 * Runs a command on the words after its name. Returns the exit status, or -1 with an error that
 * `main` prints and turns into one. *help: the user asked for help, nothing was done.
 */
typedef int command_run(int argc, char *const argv[], bool *help, struct err *err);

/*
 * Opens /dev/null for each standard descriptor that is closed. Otherwise the next file opened would
 * get that number, and messages would be written into it.
 */
void program_fill_standard_descriptors(void);

/*
 * Runs the command that the line names. `runs` has one function for each of the program's commands.
 * Returns the exit status, or -1 with an error.
 */
int program_run(const struct program_spec *program, command_run *const runs[], int argc,
                char *const argv[], struct err *err) must_check;

/* Writes the text to standard output. */
int program_print(const struct buf *text, struct err *err) must_check;

#endif
