/*
 * A word for the user while a file system does not answer, or while there is much to read. A system
 * call that hangs stops its thread, even for signals, so another thread of this process says it.
 */
#ifndef SHIM_PATIENCE_H
#define SHIM_PATIENCE_H

/* The usual seconds until the first word, and those between two. */
enum { PATIENCE_USUAL = 8 };

/*
 * Begins to look after a long work. `what` is its name in the words; it must stay. A step that has
 * not answered for `seconds` is named.
 */
void patience_begin(const char *what, int seconds);

/*
 * Tells the next step, such as a directory: a path that is shown if it does not answer. Does
 * nothing where no work is looked after.
 */
void patience_step(const char *path);

/* Ends the work. The thread ends by itself. */
void patience_end(void);

#endif
