/* The options of runc and crun, as in their sources, for call_grammar.c. */
#ifndef SHIM_CALL_OPTIONS_H
#define SHIM_CALL_OPTIONS_H

enum field {
    FIELD_OTHER,
    FIELD_BUNDLE,
    FIELD_CONFIG,
    FIELD_PROCESS,
    FIELD_RESOURCES,
    FIELD_LOG,
    FIELD_LOG_FORMAT,
    FIELD_ROOT,
    FIELD_HELP,
    FIELD_CGROUP,
    FIELD_CGROUPS,
    FIELD_PRESERVE
};

/* The commands of runc 1.1.5 that know an option; 0: none of them, or another table. */
enum { IN_CREATE = 1, IN_RUN = 2, IN_RESTORE = 4 };

/* The value of an option: none, needed, or (crun alone) only as in --tty=VALUE and -tVALUE. */
enum operand { FLAG, VALUE, ATTACHED };

struct option {
    const char *name; /* NULL ends a table */
    const char *letters;
    enum operand operand;
    enum field field;
    unsigned in;
};

extern const struct option call_runc_globals[];
extern const struct option call_runc_command[];
extern const struct option call_runc_exec[];
extern const struct option call_runc_update[];
extern const struct option call_runc_delete[];
extern const struct option call_runc_start[];
extern const struct option call_crun_globals[];
extern const struct option call_crun_create[];
extern const struct option call_crun_exec[];
extern const struct option call_crun_update[];
extern const struct option call_crun_delete[];
extern const struct option call_crun_start[];
extern const struct option call_crun_restore[];

#endif
