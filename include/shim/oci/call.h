/*
 * The call of an OCI runtime: its command line as it was understood. shim/runtime/call fills it;
 * rooms that only need the result include this header alone.
 */
#ifndef SHIM_OCI_CALL_H
#define SHIM_OCI_CALL_H

#include <stdbool.h>

/* The commands of the OCI runtimes, those apart that are not only passed on. */
enum call_verb {
    VERB_NONE,    /* no command, such as `--version` alone */
    VERB_UNKNOWN, /* neither runtime has it */
    VERB_OTHER,
    VERB_CREATE,
    VERB_RUN,
    VERB_RESTORE,
    VERB_EXEC,
    VERB_START,
    VERB_UPDATE,
    VERB_DELETE
};

/* All texts are borrowed from argv. */
struct call {
    const char *command;      /* NULL: none */
    enum call_verb verb;      /* of the command */
    const char *bundle;       /* NULL: the working directory */
    const char *config;       /* crun's --config; NULL: config.json of the bundle */
    const char *id;           /* the container, for create, run, restore, exec, update and delete */
    const char *process;      /* exec's --process; NULL: the command is in argv */
    const char *resources;    /* update's --resources; NULL: the amounts are in argv */
    const char *cgroup;       /* exec's --cgroup; NULL: the container's */
    const char *preserve_fds; /* --preserve-fds; NULL: none */
    const char *log;          /* NULL: none */
    const char *log_format;
    const char *root;
    const char *unknown; /* the first option that this program does not know, or NULL */
    bool no_cgroup;      /* crun's --cgroup-manager=disabled: no rules for devices are applied */
    bool help;           /* the runtime shows its help and does nothing */
};

#endif
