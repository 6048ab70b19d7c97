#include "shim/admin/commands.h"

#include "base/cli/log.h"
#include "shim/admin/install/config_diff.h"
#include "shim/admin/install/config_file.h"
#include "shim/admin/install/install.h"
#include "shim/policy/policy.h"

#include <limits.h>
#include <string.h>

struct install_command {
    const char *name, *runtime, *config;
    bool make_default, dry_run;
};

#define FIELD(field) offsetof(struct install_command, field)
#define COMMON_OPTIONS                                                                             \
    {"name",                                                                                       \
     0,                                                                                            \
     OPTION_TEXT,                                                                                  \
     FIELD(name),                                                                                  \
     "NAME",                                                                                       \
     NULL,                                                                                         \
     "the name of the runtime in the engine; by default flatbed"},                                 \
        {"config", 0, OPTION_FILE, FIELD(config), "FILE", NULL, "the engine's file to edit"},      \
    {                                                                                              \
        "dry-run", 'n', OPTION_FLAG, FIELD(dry_run), NULL, NULL,                                   \
            "print the change as a diff, and make none"                                            \
    }

static const struct option_spec install_options[] = {
    {"default", 0, OPTION_FLAG, FIELD(make_default), NULL, NULL,
     "use it for containers that name no runtime"},
    {"runtime", 0, OPTION_FILE, FIELD(runtime), "PATH", NULL,
     "flatbed-runtime; by default the one beside flatbed"},
    COMMON_OPTIONS,
    {0},
};

static const struct option_spec uninstall_options[] = {COMMON_OPTIONS, {0}};

const struct command_spec command_install_spec = {
    .program = "flatbed",
    .name = "install",
    .operands = "docker|containerd|podman",
    .summary = "Add flatbed-runtime to an engine's configuration.",
    .details = "Edits /etc/docker/daemon.json, /etc/containerd/config.toml or\n"
               "/etc/containers/containers.conf.d/flatbed.conf, and changes nothing else in it.\n"
               "The file from before is kept as FILE.flatbed-backup. No engine is restarted.\n",
    .options = install_options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = OPERANDS_NONE,
};

const struct command_spec command_uninstall_spec = {
    .program = "flatbed",
    .name = "uninstall",
    .operands = "docker|containerd|podman",
    .summary = "Remove flatbed-runtime from an engine's configuration.",
    .details = "The default runtime from before is restored. No engine is restarted.\n",
    .options = uninstall_options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = OPERANDS_NONE,
};

static const struct engine {
    const char *name, *file;
    install_edit *edit;
    install_undo *undo;
    install_outdated *outdated;   /* or NULL: the engine's undo uses no backup */
    const char *next, *undo_next; /* commands that make the engine read it, or NULL */
} engines[] = {
    {"docker", "/etc/docker/daemon.json", install_docker, install_docker_undo,
     install_docker_outdated,
     /* a reload keeps a default that the file no longer has */
     "systemctl reload docker", "systemctl restart docker"},
    {"containerd", "/etc/containerd/config.toml", install_containerd, install_toml_undo, NULL,
     "systemctl restart containerd", "systemctl restart containerd"},
    {"podman", "/etc/containers/containers.conf.d/flatbed.conf", install_podman, install_toml_undo,
     NULL, NULL, NULL},
};
enum { ENGINES = sizeof(engines) / sizeof(*engines) };

static const struct engine *find_engine(const char *name, struct err *err)
{
    for (size_t i = 0; i < ENGINES; i++)
        if (strcmp(engines[i].name, name) == 0)
            return &engines[i];
    err_set(err, ERR_USAGE, "'%s': expected docker, containerd or podman", name);
    return NULL;
}

/*
 * Returns the path of the engine's file; that of a rootless podman is in the home directory. NULL
 * with an error.
 */
static char *default_file(const struct engine *engine, struct err *err)
{
    const char *home = getenv("HOME");
    bool own = geteuid() != 0 && strcmp(engine->name, "podman") == 0 && home && *home == '/';
    char *path = own ? strf("%s/.config/containers/containers.conf.d/flatbed.conf", home)
                     : strdup(engine->file);

    if (!path)
        err_nomem(err);
    return path;
}

static bool is_program(const char *path)
{
    struct stat st;

    return path[0] == '/' && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int find_runtime(const char *given, char *out, size_t size, struct err *err)
{
    if (given) {
        if (!is_program(given))
            return err_set(err, ERR_USAGE, "--runtime=%s: not the absolute path of a program",
                           given);
        snprintf(out, size, "%s", given);
        return 0;
    }
    static const char runtime[] = "flatbed-runtime";
    ssize_t len = readlink("/proc/self/exe", out, size - sizeof(runtime) - 1);
    if (len < 0)
        return err_sys(err, "/proc/self/exe");
    out[len] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        memcpy(slash + 1, runtime, sizeof(runtime)); /* room was left */
    if (!is_program(out))
        return err_set(err, ERR_USAGE, "there is no %s; say --runtime=PATH", out);
    return 0;
}

/* ---- what was changed ---- */

static int print_diff(const struct config_file *file, const struct buf *after, bool removes,
                      struct err *err)
{
    return config_diff_print(file->path, file->fd < 0 ? NULL : &file->text, removes ? NULL : after,
                             err);
}

static void say_next(const char *next)
{
    if (next)
        log_info("next: %s", next);
}

static int install(const struct engine *engine, const struct install_command *c, const char *path,
                   struct err *err)
{
    _cleanup_config_file_ struct config_file file = CONFIG_FILE_INIT;
    _cleanup_buf_ struct buf after = BUF_INIT;
    char runtime[PATH_MAX];
    struct install in = {.name = c->name, .runtime = runtime, .make_default = c->make_default};

    if (find_runtime(c->runtime, runtime, sizeof(runtime), err) < 0 ||
        config_file_read(path, &file, err) < 0)
        return -1;
    if (engine->edit(&in, &file.text, &after, err) < 0)
        return err_wrap(err, "%s", file.path);
    if (file.fd >= 0 && buf_equal(&file.text, &after)) {
        log_info("%s: '%s' is there already; nothing was changed", file.path, c->name);
        return 0;
    }
    if (c->dry_run)
        return print_diff(&file, &after, false, err);
    bool keep =
        !file.has_backup || (engine->outdated && engine->outdated(&in, &file.text, &file.backup));
    if ((keep && config_file_keep(&file, err) < 0) || config_file_write(&file, &after, err) < 0)
        return -1;
    log_info("%s: the runtime '%s' is %s%s", file.path, c->name, runtime,
             c->make_default ? ", and the default" : "");
    if (file.fd >= 0 && keep)
        log_info("what was there is in %s" CONFIG_FILE_BACKUP, file.path);
    say_next(engine->next);
    if (access(policy_default_path, F_OK) < 0)
        log_info("there is no %s: containers start as if without flatbed-runtime; see "
                 "flatbed-policy(5)",
                 policy_default_path);
    return 0;
}

static int uninstall(const struct engine *engine, const struct install_command *c, const char *path,
                     struct err *err)
{
    _cleanup_config_file_ struct config_file file = CONFIG_FILE_INIT;
    _cleanup_buf_ struct buf after = BUF_INIT;
    struct install in = {.name = c->name, .runtime = "flatbed-runtime"};

    if (config_file_read(path, &file, err) < 0)
        return -1;
    const struct buf *backup = file.has_backup ? &file.backup : NULL;
    if (file.fd >= 0 && engine->undo(&in, &file.text, backup, &after, err) < 0)
        return err_wrap(err, "%s", file.path);
    if (file.fd < 0 || buf_equal(&file.text, &after)) {
        log_info("%s: there is no '%s'; nothing was changed", file.path, c->name);
        return 0;
    }
    bool removes = !after.len && !backup; /* install made the file */
    if (c->dry_run)
        return print_diff(&file, &after, removes, err);
    if ((removes ? config_file_remove(&file, err) : config_file_write(&file, &after, err)) < 0)
        return -1;
    log_info("%s: '%s' was taken out", file.path, c->name);
    if (backup && buf_equal(backup, &after) && config_file_remove_backup(&file, err) < 0)
        return -1;
    if (backup && !buf_equal(backup, &after))
        log_info("the file from before is still in %s" CONFIG_FILE_BACKUP, file.path);
    say_next(engine->undo_next);
    return 0;
}

typedef int install_job(const struct engine *engine, const struct install_command *c,
                        const char *path, struct err *err);

static int run_install(const struct command_spec *spec, install_job *work, int argc,
                       char *const argv[], bool *help, struct err *err)
{
    struct install_command c = {.name = "flatbed"};
    struct operands operands = {0};
    _cleanup_free_ char *path = NULL;
    int rc = options_parse(spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        const struct engine *engine = find_engine(operands.list[0], err);
        if (engine && !install_name_valid(c.name)) {
            rc = err_set(err, ERR_USAGE, "--name=%s: not a name that engines leave free", c.name);
        } else if (engine) {
            path = c.config ? strdup(c.config) : default_file(engine, err);
            rc = path ? work(engine, &c, path, err) : err_nomem(err);
        } else {
            rc = -1;
        }
    }
    free(operands.list);
    return rc;
}

int command_install(int argc, char *const argv[], bool *help, struct err *err)
{
    return run_install(&command_install_spec, install, argc, argv, help, err);
}

int command_uninstall(int argc, char *const argv[], bool *help, struct err *err)
{
    return run_install(&command_uninstall_spec, uninstall, argc, argv, help, err);
}
