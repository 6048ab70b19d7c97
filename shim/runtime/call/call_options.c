#include "shim/runtime/call/call_options.h"

/*
 * Newer versions of runc take global options after the command as well; older ones refuse them
 * there.
 */
#define GLOBAL_OPTIONS                                                                             \
    {"log", "", true, FIELD_LOG, 0}, {"log-format", "", true, FIELD_LOG_FORMAT, 0},                \
        {"root", "", true, FIELD_ROOT, 0}, {"rootless", "", true, FIELD_OTHER, 0},                 \
        {"debug", "", false, FIELD_OTHER, 0},                                                      \
    {                                                                                              \
        "systemd-cgroup", "", false, FIELD_OTHER, 0                                                \
    }

#define CREATE_OPTIONS                                                                             \
    {"bundle", "b", true, FIELD_BUNDLE, 0}, {"console-socket", "", true, FIELD_OTHER, 0},          \
        {"pid-file", "", true, FIELD_OTHER, 0}, {"preserve-fds", "", true, FIELD_OTHER, 0},        \
        {"no-pivot", "", false, FIELD_OTHER, 0}, {"no-new-keyring", "", false, FIELD_OTHER, 0},    \
        {"no-subreaper", "", false, FIELD_OTHER, 0}, {"detach", "d", false, FIELD_OTHER, 0},       \
    {                                                                                              \
        "keep", "", false, FIELD_OTHER, 0                                                          \
    }

#define RESTORE_OPTIONS                                                                            \
    {"image-path", "", true, FIELD_OTHER, 0}, {"work-path", "", true, FIELD_OTHER, 0},             \
        {"manage-cgroups-mode", "", true, FIELD_OTHER, 0},                                         \
        {"lsm-profile", "", true, FIELD_OTHER, 0},                                                 \
        {"lsm-mount-context", "", true, FIELD_OTHER, 0}, {"empty-ns", "", true, FIELD_OTHER, 0},   \
        {"tcp-established", "", false, FIELD_OTHER, 0},                                            \
        {"ext-unix-sk", "", false, FIELD_OTHER, 0}, {"shell-job", "", false, FIELD_OTHER, 0},      \
        {"file-locks", "", false, FIELD_OTHER, 0}, {"auto-dedup", "", false, FIELD_OTHER, 0},      \
    {                                                                                              \
        "lazy-pages", "", false, FIELD_OTHER, 0                                                    \
    }

#define EXEC_OPTIONS                                                                               \
    {"process", "p", true, FIELD_PROCESS, 0}, {"apparmor", "", true, FIELD_OTHER, 0},              \
        {"cap", "c", true, FIELD_OTHER, 0}, {"cgroup", "", true, FIELD_OTHER, 0},                  \
        {"console-socket", "", true, FIELD_OTHER, 0}, {"cwd", "", true, FIELD_OTHER, 0},           \
        {"env", "e", true, FIELD_OTHER, 0}, {"pid-file", "", true, FIELD_OTHER, 0},                \
        {"preserve-fds", "", true, FIELD_OTHER, 0}, {"process-label", "", true, FIELD_OTHER, 0},   \
        {"user", "u", true, FIELD_OTHER, 0}, {"detach", "d", false, FIELD_OTHER, 0},               \
        {"no-new-privs", "", false, FIELD_OTHER, 0},                                               \
    {                                                                                              \
        "tty", "t", false, FIELD_OTHER, 0                                                          \
    }

const struct option call_runc_globals[] = {
    GLOBAL_OPTIONS,
    {"criu", "", true, FIELD_OTHER, 0},
    {"help", "h", false, FIELD_HELP, 0},
    {"version", "v", false, FIELD_OTHER, 0},
    {0},
};

#define IN_ALL (IN_CREATE | IN_RUN | IN_RESTORE)

const struct option call_runc_command[] = {
    {"bundle", "b", true, FIELD_BUNDLE, IN_ALL},
    {"console-socket", "", true, FIELD_OTHER, IN_ALL},
    {"pid-file", "", true, FIELD_OTHER, IN_ALL},
    {"no-pivot", "", false, FIELD_OTHER, IN_ALL},
    {"help", "h", false, FIELD_HELP, IN_ALL},
    {"preserve-fds", "", true, FIELD_OTHER, IN_CREATE | IN_RUN},
    {"no-new-keyring", "", false, FIELD_OTHER, IN_CREATE | IN_RUN},
    {"no-subreaper", "", false, FIELD_OTHER, IN_RUN | IN_RESTORE},
    {"detach", "d", false, FIELD_OTHER, IN_RUN | IN_RESTORE},
    {"keep", "", false, FIELD_OTHER, IN_RUN},
    {"image-path", "", true, FIELD_OTHER, IN_RESTORE},
    {"work-path", "", true, FIELD_OTHER, IN_RESTORE},
    {"manage-cgroups-mode", "", true, FIELD_OTHER, IN_RESTORE},
    {"lsm-profile", "", true, FIELD_OTHER, IN_RESTORE},
    {"lsm-mount-context", "", true, FIELD_OTHER, IN_RESTORE},
    {"empty-ns", "", true, FIELD_OTHER, IN_RESTORE},
    {"tcp-established", "", false, FIELD_OTHER, IN_RESTORE},
    {"ext-unix-sk", "", false, FIELD_OTHER, IN_RESTORE},
    {"shell-job", "", false, FIELD_OTHER, IN_RESTORE},
    {"file-locks", "", false, FIELD_OTHER, IN_RESTORE},
    {"auto-dedup", "", false, FIELD_OTHER, IN_RESTORE},
    {"lazy-pages", "", false, FIELD_OTHER, IN_RESTORE},
    GLOBAL_OPTIONS,
    {0},
};

const struct option call_runc_exec[] = {
    EXEC_OPTIONS,
    {"additional-gids", "g", true, FIELD_OTHER, 0},
    {"ignore-paused", "", false, FIELD_OTHER, 0},
    {"no-subreaper", "", false, FIELD_OTHER, 0},
    {"help", "h", false, FIELD_HELP, 0},
    {0},
};

const struct option call_runc_delete[] = {
    {"force", "f", false, FIELD_OTHER, 0},
    {"help", "h", false, FIELD_HELP, 0},
    GLOBAL_OPTIONS,
    {0},
};

/* The options that every command of crun has from argp. */
#define ARGP_OPTIONS                                                                               \
    {"program-name", "", true, FIELD_OTHER, 0}, {"help", "?", false, FIELD_HELP, 0},               \
        {"usage", "", false, FIELD_HELP, 0},                                                       \
    {                                                                                              \
        "version", "V", false, FIELD_HELP, 0                                                       \
    }

/* --program-name comes from argp. */
const struct option call_crun_globals[] = {
    GLOBAL_OPTIONS,
    {"cgroup-manager", "", true, FIELD_OTHER, 0},
    {"log-level", "", true, FIELD_OTHER, 0},
    {"program-name", "", true, FIELD_OTHER, 0},
    {"help", "?", false, FIELD_HELP, 0},
    {"usage", "", false, FIELD_HELP, 0},
    {"version", "vV", false, FIELD_HELP, 0},
    {0},
};

const struct option call_crun_create[] = {
    CREATE_OPTIONS,
    {"config", "f", true, FIELD_CONFIG, 0},
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_exec[] = {
    EXEC_OPTIONS,
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_delete[] = {
    {"force", "f", false, FIELD_OTHER, 0},
    {"regex", "r", false, FIELD_OTHER, 0},
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_restore[] = {
    CREATE_OPTIONS, RESTORE_OPTIONS, {"config", "f", true, FIELD_CONFIG, 0}, ARGP_OPTIONS, {0},
};
