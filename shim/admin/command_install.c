#include "shim/admin/install/install_host.h"

#include "base/cli/log.h"
#include "base/path.h"
#include "shim/admin/commands.h"
#include "shim/admin/engine/nvidia_toolkit.h"
#include "shim/admin/install/config_file.h"
#include "shim/admin/install/install.h"
#include "shim/policy/policy.h"

#include <glob.h>
#include <limits.h>
#include <string.h>

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
    .operands = "docker|containerd|podman|nvidia",
    .summary = "Add flatbed-runtime to an engine's configuration.",
    .details = "Edits /etc/docker/daemon.json, /etc/containerd/config.toml (or the file that it\n"
               "imports and that takes effect), /etc/containers/containers.conf.d/flatbed.conf or\n"
               "/etc/nvidia-container-runtime/config.toml, and changes nothing else in it.\n"
               "nvidia: NVIDIA's runtime calls flatbed-runtime, after it has added the GPUs.\n"
               "The file from before is kept as FILE.flatbed-backup. No engine is restarted.\n",
    .options = install_options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = OPERANDS_NONE,
};

const struct command_spec command_uninstall_spec = {
    .program = "flatbed",
    .name = "uninstall",
    .operands = "docker|containerd|podman|nvidia",
    .summary = "Remove flatbed-runtime from an engine's configuration.",
    .details = "The default runtime from before is restored. No engine is restarted.\n",
    .options = uninstall_options,
    .min_operands = 1,
    .max_operands = 1,
    .completes = OPERANDS_NONE,
};

/* Reads what a file of an engine says about GPUs before it is edited; may change *in, or refuse. */
typedef int install_prepare(const struct config_file *file, struct install *in, struct err *err);
/* Says what is still to be done after an edit. */
typedef void install_finish(const struct config_file *file, const struct install_command *c);

static install_prepare prepare_docker, prepare_podman;
static install_finish finish_docker, finish_podman;

static const struct engine {
    const char *name, *file;
    install_edit *edit;
    install_undo *undo;
    install_outdated *outdated;   /* or NULL: the engine's undo uses no backup */
    install_prepare *prepare;     /* or NULL */
    install_finish *finish;       /* or NULL */
    const char *next, *undo_next; /* commands that make the engine read it, or NULL */
} engines[] = {
    {"docker", docker_default_path, install_docker, install_docker_undo, install_docker_outdated,
     prepare_docker, finish_docker,
     /* a reload keeps a default that the file no longer has */
     "systemctl reload docker", "systemctl restart docker"},
    {.name = "containerd", .file = containerd_default_path}, /* several files */
    {"podman", "/etc/containers/containers.conf.d/flatbed.conf", install_podman, install_toml_undo,
     NULL, prepare_podman, finish_podman, NULL, NULL},
    {"nvidia", nvidia_toolkit_default_path, install_nvidia, install_nvidia_undo, NULL,
     install_check_nvidia, install_say_nvidia, NULL, NULL},
};
enum { ENGINES = sizeof(engines) / sizeof(*engines) };

static const struct engine *find_engine(const char *name, struct err *err)
{
    for (size_t i = 0; i < ENGINES; i++)
        if (strcmp(engines[i].name, name) == 0)
            return &engines[i];
    err_set(err, ERR_USAGE, "'%s': expected docker, containerd, podman or nvidia", name);
    return NULL;
}

static bool is_nvidia(const struct engine *engine)
{
    return engine->edit == install_nvidia;
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

    return path[0] == '/' && !path[strcspn(path, "\n\r\t")] && stat(path, &st) == 0 &&
           S_ISREG(st.st_mode) && access(path, X_OK) == 0;
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

/* ---- docker ---- */

/* Lists the runtimes of a daemon.json; none if it cannot be read, as the edit will say. */
static int list_docker(const struct config_file *file, struct engine_runtimes *out, struct err *err)
{
    struct err ignored;
    _cleanup_json_ struct json_doc *doc =
        file->text.len ? json_parse(file->text.data, file->text.len, NULL, &ignored) : NULL;

    return doc ? engine_runtimes_add_docker(out, file->path, json_root(doc), err) : 0;
}

static int prepare_docker(const struct config_file *file, struct install *in, struct err *err)
{
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};

    if (list_docker(file, &runtimes, err) < 0)
        return -1;
    return install_keep_gpus(&runtimes, "docker", in, err);
}

static void finish_docker(const struct config_file *file, const struct install_command *c)
{
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    struct err err = ERR_INIT;

    (void)c;
    if (list_docker(file, &runtimes, &err) < 0)
        log_warning("%s", err.msg);
    install_say_gpus(&runtimes, "docker");
}

/* ---- podman ---- */

static int prepare_podman(const struct config_file *file, struct install *in, struct err *err)
{
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};

    (void)file; /* the default may be in other files */
    if (engine_runtimes_read(&runtimes, err) < 0)
        return -1;
    return install_keep_gpus(&runtimes, "podman", in, err);
}

/* Warns of files in the same directory that podman reads later, and that have another default. */
static void finish_podman(const struct config_file *file, const struct install_command *c)
{
    const char *name;
    _cleanup_free_ char *dir = path_parent(file->path, &name);
    _cleanup_free_ char *pattern = dir ? strf("%s/*.conf", dir) : NULL;
    glob_t found = {0};

    if (c->make_default && pattern && strstr(dir, "/containers.conf.d") &&
        glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (strcmp(found.gl_pathv[i], file->path) > 0 &&
                engine_podman_has_default(found.gl_pathv[i]))
                log_warning(
                    "%s has another \"runtime\", and podman reads it later: '%s' is not the "
                    "default",
                    found.gl_pathv[i], c->name);
    globfree(&found);
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    struct err err = ERR_INIT;
    if (engine_runtimes_read(&runtimes, &err) < 0)
        log_warning("%s", err.msg);
    install_say_gpus(&runtimes, "podman");
}

/* ---- one file ---- */

static void say_next(const char *next)
{
    if (next)
        log_info("next: %s", next);
}

static void say_policy(void)
{
    if (access(policy_default_path, F_OK) < 0)
        log_info("there is no %s: containers start as if without flatbed-runtime; see "
                 "flatbed-policy(5)",
                 policy_default_path);
}

static int install_file(const struct engine *engine, const struct install_command *c,
                        struct install *in, const char *path, struct err *err)
{
    _cleanup_config_file_ struct config_file file = CONFIG_FILE_INIT;
    _cleanup_buf_ struct buf after = BUF_INIT;

    if (config_file_read(path, &file, err) < 0)
        return -1;
    if ((engine->prepare && engine->prepare(&file, in, err) < 0) ||
        engine->edit(in, &file.text, &after, err) < 0)
        return err_wrap(err, "%s", file.path);
    bool same = file.fd >= 0 && buf_equal(&file.text, &after);
    if (!same && c->dry_run)
        return config_file_print_diff(&file, &after, false, err);
    bool keep =
        !file.has_backup || (engine->outdated && engine->outdated(in, &file.text, &file.backup));
    if (same)
        log_info("%s: '%s' is there already; nothing was changed", file.path, c->name);
    else if (config_file_replace(&file, &after, keep, false, err) < 0)
        return -1;
    else if (is_nvidia(engine))
        log_info("%s: NVIDIA's runtime calls %s, in the mode cdi", file.path, in->runtime);
    else
        log_info("%s: the runtime '%s' is %s%s", file.path, c->name, in->runtime,
                 in->make_default ? ", and the default" : "");
    if (!same && file.fd >= 0 && keep)
        log_info("what was there is in %s" CONFIG_FILE_BACKUP, file.path);
    if (!same)
        say_next(engine->next);
    if (engine->finish)
        engine->finish(&file, c);
    return 0;
}

static int install(const struct engine *engine, const struct install_command *c, const char *path,
                   struct err *err)
{
    char runtime[PATH_MAX];
    struct install in = {.name = c->name, .runtime = runtime, .make_default = c->make_default};

    if (find_runtime(c->runtime, runtime, sizeof(runtime), err) < 0)
        return -1;
    int rc = engine->edit ? install_file(engine, c, &in, path, err)
                          : install_containerd_files(c, &in, path, err);
    if (rc == 0 && !c->dry_run)
        say_policy();
    return rc;
}

static int uninstall(const struct engine *engine, const struct install_command *c, const char *path,
                     struct err *err)
{
    _cleanup_config_file_ struct config_file file = CONFIG_FILE_INIT;
    _cleanup_buf_ struct buf after = BUF_INIT;
    struct install in = {.name = c->name, .runtime = "flatbed-runtime"};

    if (!engine->undo)
        return uninstall_containerd_files(c, &in, path, err);
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
        return config_file_print_diff(&file, &after, removes, err);
    if (config_file_replace(&file, &after, false, removes, err) < 0)
        return -1;
    log_info("%s: '%s' was taken out", file.path, c->name);
    if (backup && buf_equal(backup, &after) && config_file_remove_backup(&file, err) < 0)
        return -1;
    if (backup && !buf_equal(backup, &after))
        log_info("the file from before is still in %s" CONFIG_FILE_BACKUP, file.path);
    say_next(engine->undo_next);
    return 0;
}

/* ---- the command line ---- */

typedef int install_job(const struct engine *engine, const struct install_command *c,
                        const char *path, struct err *err);

/* Checks the options that have no meaning for an engine, and fills in the default of --name. */
static int check_options(const struct engine *engine, struct install_command *c, struct err *err)
{
    if (is_nvidia(engine) && (c->name || c->make_default))
        return err_set(err, ERR_USAGE, "nvidia: %s is for engines only",
                       c->name ? "--name" : "--default");
    if (!c->name)
        c->name = is_nvidia(engine) ? "flatbed-runtime" : "flatbed";
    return install_name_valid(c->name)
               ? 0
               : err_set(err, ERR_USAGE, "--name=%s: not a name that engines leave free", c->name);
}

/* Returns the path of the file to edit; the caller frees it. Imports need an absolute one. */
static char *find_file(const struct engine *engine, const struct install_command *c,
                       struct err *err)
{
    if (!c->config)
        return default_file(engine, err);
    _cleanup_free_ char *here = engine->edit || c->config[0] == '/' ? NULL : getcwd(NULL, 0);
    char *path = here ? strf("%s/%s", here, c->config) : strdup(c->config);
    if (!path)
        err_nomem(err);
    return path;
}

/* Adds what to do to the error of a user that a file of root's is closed to. */
static void advise_root(struct err *err)
{
    struct err why = *err;

    if (geteuid() != 0 && why.sys == EACCES)
        err_set(err, why.kind, "%s: run it as root", why.msg);
}

static int run_install(const struct command_spec *spec, install_job *work, int argc,
                       char *const argv[], bool *help, struct err *err)
{
    struct install_command c = {0};
    struct operands operands = {0};
    _cleanup_free_ char *path = NULL;
    int rc = options_parse(spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        const struct engine *engine = find_engine(operands.list[0], err);
        rc = engine && check_options(engine, &c, err) == 0 &&
                     (path = find_file(engine, &c, err)) != NULL
                 ? work(engine, &c, path, err)
                 : -1;
    }
    if (rc < 0)
        advise_root(err);
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
