#include "shim/runtime/call/call_options.h"

/*
 * Newer versions of runc take global options after the command as well; older ones refuse them
 * there.
 */
#define GLOBAL_OPTIONS                                                                             \
    {"log", "", VALUE, FIELD_LOG, 0}, {"log-format", "", VALUE, FIELD_LOG_FORMAT, 0},              \
        {"root", "", VALUE, FIELD_ROOT, 0}, {"rootless", "", VALUE, FIELD_OTHER, 0},               \
        {"debug", "", FLAG, FIELD_OTHER, 0},                                                       \
    {                                                                                              \
        "systemd-cgroup", "", FLAG, FIELD_OTHER, 0                                                 \
    }

#define CREATE_OPTIONS                                                                             \
    {"bundle", "b", VALUE, FIELD_BUNDLE, 0}, {"console-socket", "", VALUE, FIELD_OTHER, 0},        \
        {"pid-file", "", VALUE, FIELD_OTHER, 0}, {"preserve-fds", "", VALUE, FIELD_PRESERVE, 0},   \
        {"no-pivot", "", FLAG, FIELD_OTHER, 0}, {"no-new-keyring", "", FLAG, FIELD_OTHER, 0},      \
        {"no-subreaper", "", FLAG, FIELD_OTHER, 0}, {"detach", "d", FLAG, FIELD_OTHER, 0},         \
    {                                                                                              \
        "keep", "", FLAG, FIELD_OTHER, 0                                                           \
    }

#define RESTORE_OPTIONS                                                                            \
    {"image-path", "", VALUE, FIELD_OTHER, 0}, {"work-path", "", VALUE, FIELD_OTHER, 0},           \
        {"manage-cgroups-mode", "", VALUE, FIELD_OTHER, 0},                                        \
        {"lsm-profile", "", VALUE, FIELD_OTHER, 0},                                                \
        {"lsm-mount-context", "", VALUE, FIELD_OTHER, 0}, {"empty-ns", "", VALUE, FIELD_OTHER, 0}, \
        {"tcp-established", "", FLAG, FIELD_OTHER, 0}, {"ext-unix-sk", "", FLAG, FIELD_OTHER, 0},  \
        {"shell-job", "", FLAG, FIELD_OTHER, 0}, {"file-locks", "", FLAG, FIELD_OTHER, 0},         \
        {"auto-dedup", "", FLAG, FIELD_OTHER, 0},                                                  \
    {                                                                                              \
        "lazy-pages", "", FLAG, FIELD_OTHER, 0                                                     \
    }

#define EXEC_OPTIONS                                                                               \
    {"process", "p", VALUE, FIELD_PROCESS, 0}, {"apparmor", "", VALUE, FIELD_OTHER, 0},            \
        {"cap", "c", VALUE, FIELD_OTHER, 0}, {"cgroup", "", VALUE, FIELD_CGROUP, 0},               \
        {"console-socket", "", VALUE, FIELD_OTHER, 0}, {"cwd", "", VALUE, FIELD_OTHER, 0},         \
        {"env", "e", VALUE, FIELD_OTHER, 0}, {"pid-file", "", VALUE, FIELD_OTHER, 0},              \
        {"preserve-fds", "", VALUE, FIELD_PRESERVE, 0},                                            \
        {"process-label", "", VALUE, FIELD_OTHER, 0}, {"user", "u", VALUE, FIELD_OTHER, 0},        \
        {"detach", "d", FLAG, FIELD_OTHER, 0},                                                     \
    {                                                                                              \
        "no-new-privs", "", FLAG, FIELD_OTHER, 0                                                   \
    }

#define UPDATE_OPTIONS                                                                             \
    {"resources", "r", VALUE, FIELD_RESOURCES, 0}, {"blkio-weight", "", VALUE, FIELD_OTHER, 0},    \
        {"cpu-period", "", VALUE, FIELD_OTHER, 0}, {"cpu-quota", "", VALUE, FIELD_OTHER, 0},       \
        {"cpu-rt-period", "", VALUE, FIELD_OTHER, 0},                                              \
        {"cpu-rt-runtime", "", VALUE, FIELD_OTHER, 0}, {"cpu-share", "", VALUE, FIELD_OTHER, 0},   \
        {"cpuset-cpus", "", VALUE, FIELD_OTHER, 0}, {"cpuset-mems", "", VALUE, FIELD_OTHER, 0},    \
        {"kernel-memory", "", VALUE, FIELD_OTHER, 0},                                              \
        {"kernel-memory-tcp", "", VALUE, FIELD_OTHER, 0}, {"memory", "", VALUE, FIELD_OTHER, 0},   \
        {"memory-reservation", "", VALUE, FIELD_OTHER, 0},                                         \
        {"memory-swap", "", VALUE, FIELD_OTHER, 0},                                                \
    {                                                                                              \
        "pids-limit", "", VALUE, FIELD_OTHER, 0                                                    \
    }

const struct option call_runc_globals[] = {
    GLOBAL_OPTIONS,
    {"criu", "", VALUE, FIELD_OTHER, 0},
    {"help", "h", FLAG, FIELD_HELP, 0},
    {"version", "v", FLAG, FIELD_OTHER, 0},
    {0},
};

#define IN_ALL (IN_CREATE | IN_RUN | IN_RESTORE)

const struct option call_runc_command[] = {
    {"bundle", "b", VALUE, FIELD_BUNDLE, IN_ALL},
    {"console-socket", "", VALUE, FIELD_OTHER, IN_ALL},
    {"pid-file", "", VALUE, FIELD_OTHER, IN_ALL},
    {"no-pivot", "", FLAG, FIELD_OTHER, IN_ALL},
    {"help", "h", FLAG, FIELD_HELP, IN_ALL},
    {"preserve-fds", "", VALUE, FIELD_PRESERVE, IN_CREATE | IN_RUN},
    {"no-new-keyring", "", FLAG, FIELD_OTHER, IN_CREATE | IN_RUN},
    {"no-subreaper", "", FLAG, FIELD_OTHER, IN_RUN | IN_RESTORE},
    {"detach", "d", FLAG, FIELD_OTHER, IN_RUN | IN_RESTORE},
    {"keep", "", FLAG, FIELD_OTHER, IN_RUN},
    {"image-path", "", VALUE, FIELD_OTHER, IN_RESTORE},
    {"work-path", "", VALUE, FIELD_OTHER, IN_RESTORE},
    {"manage-cgroups-mode", "", VALUE, FIELD_OTHER, IN_RESTORE},
    {"lsm-profile", "", VALUE, FIELD_OTHER, IN_RESTORE},
    {"lsm-mount-context", "", VALUE, FIELD_OTHER, IN_RESTORE},
    {"empty-ns", "", VALUE, FIELD_OTHER, IN_RESTORE},
    {"tcp-established", "", FLAG, FIELD_OTHER, IN_RESTORE},
    {"ext-unix-sk", "", FLAG, FIELD_OTHER, IN_RESTORE},
    {"shell-job", "", FLAG, FIELD_OTHER, IN_RESTORE},
    {"file-locks", "", FLAG, FIELD_OTHER, IN_RESTORE},
    {"auto-dedup", "", FLAG, FIELD_OTHER, IN_RESTORE},
    {"lazy-pages", "", FLAG, FIELD_OTHER, IN_RESTORE},
    GLOBAL_OPTIONS,
    {0},
};

const struct option call_runc_exec[] = {
    EXEC_OPTIONS,
    {"tty", "t", FLAG, FIELD_OTHER, 0},
    {"additional-gids", "g", VALUE, FIELD_OTHER, 0},
    {"ignore-paused", "", FLAG, FIELD_OTHER, 0},
    {"no-subreaper", "", FLAG, FIELD_OTHER, 0},
    {"help", "h", FLAG, FIELD_HELP, 0},
    {0},
};

const struct option call_runc_update[] = {
    UPDATE_OPTIONS,
    {"cpu-burst", "", VALUE, FIELD_OTHER, 0},
    {"cpu-idle", "", VALUE, FIELD_OTHER, 0},
    {"l3-cache-schema", "", VALUE, FIELD_OTHER, 0},
    {"mem-bw-schema", "", VALUE, FIELD_OTHER, 0},
    {"help", "h", FLAG, FIELD_HELP, 0},
    GLOBAL_OPTIONS,
    {0},
};

const struct option call_runc_delete[] = {
    {"force", "f", FLAG, FIELD_OTHER, 0},
    {"help", "h", FLAG, FIELD_HELP, 0},
    GLOBAL_OPTIONS,
    {0},
};

const struct option call_runc_start[] = {
    {"help", "h", FLAG, FIELD_HELP, 0},
    GLOBAL_OPTIONS,
    {0},
};

/* The options that every command of crun has from argp. */
#define ARGP_OPTIONS                                                                               \
    {"program-name", "", VALUE, FIELD_OTHER, 0}, {"help", "?", FLAG, FIELD_HELP, 0},               \
        {"usage", "", FLAG, FIELD_HELP, 0}, {"HANG", "", ATTACHED, FIELD_OTHER, 0},                \
    {                                                                                              \
        "version", "V", FLAG, FIELD_HELP, 0                                                        \
    }

/* --program-name and --HANG come from argp. */
const struct option call_crun_globals[] = {
    GLOBAL_OPTIONS,
    {"cgroup-manager", "", VALUE, FIELD_CGROUPS, 0},
    {"log-level", "", VALUE, FIELD_OTHER, 0},
    {"program-name", "", VALUE, FIELD_OTHER, 0},
    {"help", "?", FLAG, FIELD_HELP, 0},
    {"usage", "", FLAG, FIELD_HELP, 0},
    {"HANG", "", ATTACHED, FIELD_OTHER, 0},
    {"version", "vV", FLAG, FIELD_HELP, 0},
    {0},
};

const struct option call_crun_create[] = {
    CREATE_OPTIONS,
    {"config", "f", VALUE, FIELD_CONFIG, 0},
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_exec[] = {
    EXEC_OPTIONS,
    {"tty", "t", ATTACHED, FIELD_OTHER, 0},
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_update[] = {
    UPDATE_OPTIONS,
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_delete[] = {
    {"force", "f", FLAG, FIELD_OTHER, 0},
    {"regex", "r", FLAG, FIELD_OTHER, 0},
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_start[] = {
    ARGP_OPTIONS,
    {0},
};

const struct option call_crun_restore[] = {
    CREATE_OPTIONS,
    RESTORE_OPTIONS,
    {"network-lock", "", FLAG, FIELD_OTHER, 0},
    {"config", "f", VALUE, FIELD_CONFIG, 0},
    ARGP_OPTIONS,
    {0},
};
