/*
 * An error as a value: fixed size, never allocates, set once where it happens.
 *
 * Fallible functions take a `struct err *` last and return 0 / -1 or pointer / NULL. The setters
 * return -1 so that a failure reads `return err_set(err, …)`. Callers add context with err_wrap,
 * once a layer. Only `main` prints a message and turns the kind into an exit status.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

enum err_kind {
    ERR_NONE = 0,
    ERR_USAGE,       /* the command line is wrong */
    ERR_SYSTEM,      /* a system call failed; `sys` holds errno */
    ERR_FORMAT,      /* input is malformed */
    ERR_DIGEST,      /* content does not match its digest or size */
    ERR_LIMIT,       /* a bound on size, depth or count was reached */
    ERR_UNSUPPORTED, /* valid input that this version does not handle */
    ERR_POLICY,      /* the policy forbids it, or the policy itself is unusable */
};

struct err {
    enum err_kind kind;
    int sys; /* errno where kind is ERR_SYSTEM, else 0 */
    char msg[1024];
};

#define ERR_INIT                                                                                   \
    {                                                                                              \
        .kind = ERR_NONE                                                                           \
    }

/* Sets the error. A message that does not fit is cut. Always returns -1. */
int err_set(struct err *err, enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets ERR_SYSTEM from the current errno and appends its text. Always returns -1. */
int err_sys(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets ERR_SYSTEM with "out of memory". Always returns -1. */
int err_nomem(struct err *err);

/* Puts "context: " before the message; the kind stays. Always returns -1. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns true for ERR_SYSTEM with ENOENT: what was looked for is not there. */
bool err_missing(const struct err *err);

#if defined(__clang_analyzer__) && !defined(ERR_DEFINES)
/* clang-tidy reads one file at a time and cannot see what these functions return. */
static inline int err_returned(int value)
{
    (void)value;
    return -1;
}
#define err_set(...)   err_returned(err_set(__VA_ARGS__))
#define err_sys(...)   err_returned(err_sys(__VA_ARGS__))
#define err_nomem(err) err_returned(err_nomem(err))
#define err_wrap(...)  err_returned(err_wrap(__VA_ARGS__))
#endif

/*
 * Returns the exit status of a command that failed with this kind, as `--help` and the man pages
 * list: usage 2, system 3, format 5, digest 6, limit 7, unsupported 8, policy 9. (1 is a command's
 * own negative answer, such as a verification that found a difference; 4 is kept for budget rules.)
 */
int err_exit_status(enum err_kind kind);

#endif
