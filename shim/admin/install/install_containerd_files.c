/* containerd's configuration: several files, of which the last one with its CRI plugin counts. */
#include "shim/admin/install/install_host.h"

#include "base/cli/log.h"
#include "shim/admin/engine/runtime_program.h"
#include "shim/admin/engine/toml_value.h"
#include "shim/host/process/child.h"

#include <limits.h>
#include <string.h>

enum { DUMP_BYTES = 512 * 1024 };

/* ---- what containerd makes of it ---- */

/* The configuration that takes effect, as `containerd config dump` prints it. */
struct dump {
    struct arena arena;
    struct toml toml;
    const char *plugin;
    bool known;
    char why[256]; /* why it is not known */
};

static void dump_free(struct dump *d)
{
    arena_free(&d->arena);
}
#define _cleanup_dump_ _cleanup_(dump_free)

/* Asks containerd. Fails only without memory. */
static int dump_read(const char *path, struct dump *out, struct err *err)
{
    struct runtime_program containerd;
    struct err why = ERR_INIT;
    int status;

    *out = (struct dump){.arena = {.limit = 64u * 1024 * 1024}};
    char *text = arena_alloc(&out->arena, DUMP_BYTES);
    if (!text)
        return err_nomem(err);
    runtime_program_find("containerd", &containerd);
    if (!containerd.found) {
        snprintf(out->why, sizeof(out->why), "containerd is not installed");
        return 0;
    }
    char *argv[] = {containerd.path,    (char[]){"--config"}, (char *)(uintptr_t)path,
                    (char[]){"config"}, (char[]){"dump"},     NULL};
    if (child_output(argv, text, DUMP_BYTES, &status, &why) < 0)
        snprintf(out->why, sizeof(out->why), "%.200s", why.msg);
    else if (status != 0)
        snprintf(out->why, sizeof(out->why), "'containerd --config %.100s config dump' fails",
                 path);
    else if (toml_scan(text, strlen(text), &out->arena, &out->toml, &why) < 0 ||
             !(out->plugin = containerd_plugin(&out->toml, NULL, &why)))
        snprintf(out->why, sizeof(out->why), "'containerd config dump': %.200s", why.msg);
    else
        out->known = true;
    return 0;
}

/* Returns a text of the effective runtime `name`, or NULL. */
static const char *dump_option(struct dump *d, const char *name, const char *option)
{
    const char *const path[] = {"plugins", d->plugin, "containerd", "runtimes",
                                name,      "options", option};

    return toml_text(&d->toml, toml_find(&d->toml, path, 7), &d->arena);
}

static const char *dump_systemd(const struct dump *d)
{
    const char *const path[] = {"plugins", d->plugin, "containerd",   "runtimes",
                                "runc",    "options", "SystemdCgroup"};
    const struct toml_item *item = d->known ? toml_find(&d->toml, path, 7) : NULL;

    return !item ? NULL : toml_true(&d->toml, item) ? "true" : "false";
}

/* Discards the dump of a containerd that is too old for the files: 1.x skips the newer plugin. */
static void dump_check_version(struct dump *d, const struct containerd_files *files)
{
    const char *plugin = files->count ? containerd_files_last(files)->plugin : d->plugin;

    if (!d->known || strcmp(plugin, d->plugin) == 0 || containerd_plugin_is_old(plugin))
        return;
    d->known = false;
    snprintf(d->why, sizeof(d->why), "the containerd of this host has no plugin %s", plugin);
}

static bool plugin_is_disabled(struct dump *d)
{
    static const char *const path[] = {"disabled_plugins"};
    struct toml_texts list;

    if (toml_texts(&d->toml, toml_find(&d->toml, path, 1), &d->arena, &list))
        for (size_t i = 0; i < list.count; i++)
            if (strcmp(list.items[i], d->plugin) == 0)
                return true;
    return false;
}

/* Fails if the runtime, or that it is the default, has no effect. */
static int dump_compare(struct dump *d, const struct install *in, struct err *err)
{
    const char *const path[] = {"plugins", d->plugin, "containerd", "default_runtime_name"};
    const char *binary = dump_option(d, in->name, "BinaryName");
    const char *fallback = toml_text(&d->toml, toml_find(&d->toml, path, 4), &d->arena);

    if (!binary || strcmp(binary, in->runtime) != 0)
        return err_set(err, ERR_UNSUPPORTED,
                       "'containerd config dump' shows %s%s for the runtime '%s'",
                       binary ? "the program " : "no program", binary ? binary : "", in->name);
    if (in->make_default && (!fallback || strcmp(fallback, in->name) != 0))
        return err_set(err, ERR_UNSUPPORTED,
                       "'containerd config dump' shows the default runtime '%s'",
                       fallback ? fallback : "");
    return 0;
}

/*
 * Compares the edited files with what containerd reads in them. Says so if that cannot be found
 * out, or was not possible before either.
 */
static int verify(const char *path, const struct install *in, const struct dump *before,
                  struct err *err)
{
    _cleanup_dump_ struct dump after = {0};

    if (before->known && dump_read(path, &after, err) < 0)
        return -1;
    if (before->known && !after.known)
        return err_set(err, ERR_UNSUPPORTED, "%s after the edit", after.why);
    if (!before->known)
        log_warning("not verified: %s", before->why);
    else if (plugin_is_disabled(&after))
        log_warning("\"disabled_plugins\" has %s: containerd uses its runtimes only without that",
                    after.plugin);
    else
        return dump_compare(&after, in, err);
    return 0;
}

/* ---- install ---- */

/* One file with its edit. */
struct change {
    struct config_file file;
    struct buf after;
    bool differs;
};

struct changes {
    struct change *list;
    size_t count;
    struct change *target; /* the file that gets the runtime, or NULL */
};

static void changes_free(struct changes *c)
{
    for (size_t i = 0; i < c->count; i++) {
        config_file_close(&c->list[i].file);
        buf_free(&c->list[i].after);
    }
    free(c->list);
}
#define _cleanup_changes_ _cleanup_(changes_free)

/* Reads all files, and takes the runtime out of each. `path` is read if there is no file. */
static int read_changes(const struct containerd_files *files, const char *path, struct changes *out,
                        struct err *err)
{
    size_t count = files->count ? files->count : 1;

    out->list = calloc(count, sizeof(*out->list));
    if (!out->list)
        return err_nomem(err);
    for (; out->count < count; out->count++) {
        struct change *change = &out->list[out->count];
        const char *name = files->count ? files->list[out->count].path : path;
        change->file = (struct config_file)CONFIG_FILE_INIT;
        if (config_file_read(name, &change->file, err) < 0) {
            config_file_close(&change->file);
            return -1;
        }
        const struct buf *backup = change->file.has_backup ? &change->file.backup : NULL;
        if (install_toml_undo(NULL, &change->file.text, backup, &change->after, err) < 0) {
            out->count++;
            return err_wrap(err, "%s", change->file.path);
        }
        change->differs = !buf_equal(&change->file.text, &change->after);
    }
    return 0;
}

/* Fails if a file still has the runtime, but no marks of it. */
static int check_unmarked(const struct containerd_files *files, const struct changes *changes,
                          const char *name, struct err *err)
{
    for (size_t i = 0; i < files->count; i++) {
        const char *const path[] = {
            "plugins", files->list[i].plugin, "containerd", "runtimes", name,
            "options", "BinaryName"};
        const struct toml_item *item = toml_find(&files->list[i].toml, path, 7);
        _cleanup_arena_ struct arena arena = {0};
        const char *binary = toml_text(&files->list[i].toml, item, &arena);
        if (binary && runtime_kind_of(binary) == RUNTIME_FLATBED && !changes->list[i].differs)
            return err_set(err, ERR_FORMAT,
                           "%s: line %zu has the runtime '%s', but no mark of flatbed install: "
                           "another program wrote the file since; take it out by hand",
                           files->list[i].path, toml_line(&files->list[i].toml, item->start), name);
    }
    return 0;
}

/* Puts the runtime into the target; a default that any file has from an earlier install stays. */
static int edit_target(const struct containerd_files *files, struct changes *changes,
                       struct install *in, struct err *err)
{
    const struct containerd_file *last = containerd_files_last(files);
    size_t index = last ? (size_t)(last - files->list) : 0;
    struct change *target = &changes->list[index];

    for (size_t i = 0; i < changes->count; i++) {
        struct install there = *in;
        there.plugin = i < files->count ? files->list[i].plugin : NULL;
        if (changes->list[i].differs &&
            install_containerd_is_default(&there, &changes->list[i].file.text))
            in->make_default = true;
    }
    in->plugin = index ? last->plugin : NULL;
    buf_free(&target->after);
    if (install_containerd(in, &target->file.text, &target->after, err) < 0)
        return err_wrap(err, "%s", target->file.path);
    target->differs = target->file.fd < 0 || !buf_equal(&target->file.text, &target->after);
    changes->target = target;
    return 0;
}

static int print_changes(const struct changes *changes, struct err *err)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *c = &changes->list[i];
        bool removes = c != changes->target && !c->after.len && !c->file.has_backup;
        if (c->differs && config_file_print_diff(&c->file, &c->after, removes, err) < 0)
            return -1;
    }
    return 0;
}

/* Writes the old text of the target again. */
static void take_back(const struct change *c)
{
    struct err err = ERR_INIT;
    bool made = c->file.fd < 0;

    if ((made ? config_file_remove(&c->file, &err)
              : config_file_write(&c->file, &c->file.text, &err)) < 0 ||
        (!c->file.has_backup && config_file_remove_backup(&c->file, &err) < 0))
        log_error("cannot undo the edit: %s", err.msg);
}

/* Removes an earlier edit from a file. */
static int write_undo(const struct change *c, struct err *err)
{
    bool removes = !c->after.len && !c->file.has_backup;

    if (config_file_replace(&c->file, &c->after, false, removes, err) < 0)
        return -1;
    return c->file.has_backup && buf_equal(&c->file.backup, &c->after)
               ? config_file_remove_backup(&c->file, err)
               : 0;
}

/*
 * Keeps a backup of the target, unless containerd would import it: a pattern that is not only for
 * *.toml would put the old text after the new one.
 */
static int keep_backup(const struct change *target, const char *path, bool *kept, struct err *err)
{
    _cleanup_containerd_files_ struct containerd_files files = {0};
    size_t end = sizeof(CONFIG_FILE_BACKUP) - 1;
    struct err ignored;

    if (config_file_keep(&target->file, err) < 0)
        return -1;
    *kept = containerd_files_read(path, &files, &ignored) == 0;
    for (size_t i = 0; i < files.count; i++) {
        size_t len = strlen(files.list[i].path);
        if (len > end && strcmp(files.list[i].path + len - end, CONFIG_FILE_BACKUP) == 0)
            *kept = false;
    }
    if (*kept)
        return 0;
    log_warning("no backup of %s is kept: containerd would import it", target->file.path);
    return config_file_remove_backup(&target->file, err);
}

static int write_target(const struct changes *changes, const struct install *in, const char *path,
                        const struct dump *before, bool *kept, struct err *err)
{
    const struct change *t = changes->target;

    *kept = false;
    if (t->differs && !t->file.has_backup && keep_backup(t, path, kept, err) < 0)
        return -1;
    if (t->differs && config_file_replace(&t->file, &t->after, false, false, err) < 0)
        return -1;
    if (verify(path, in, before, err) < 0) {
        if (t->differs)
            take_back(t);
        return err_wrap(err, "%s: the runtime '%s' has no effect there%s", t->file.path, in->name,
                        t->differs ? ", and the edit is taken back" : "");
    }
    return 0;
}

static int write_changes(const struct changes *changes, const struct install *in, const char *path,
                         const struct dump *before, struct err *err)
{
    bool changed = false, kept;

    if (write_target(changes, in, path, before, &kept, err) < 0)
        return -1;
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *c = &changes->list[i];
        changed = changed || c->differs;
        if (c == changes->target || !c->differs)
            continue;
        if (write_undo(c, err) < 0)
            return -1;
        log_info("%s: an older '%s' was taken out", c->file.path, in->name);
    }
    const struct change *t = changes->target;
    if (!changed) {
        log_info("%s: '%s' is there already; nothing was changed", t->file.path, in->name);
        return 0;
    }
    log_info("%s: the runtime '%s' is %s%s", t->file.path, in->name, in->runtime,
             in->make_default ? ", and the default" : "");
    if (t->file.fd >= 0 && kept)
        log_info("what was there is in %s" CONFIG_FILE_BACKUP, t->file.path);
    log_info("next: systemctl restart containerd");
    return 0;
}

int install_containerd_files(const struct install_command *c, struct install *in, const char *path,
                             struct err *err)
{
    _cleanup_containerd_files_ struct containerd_files files = {0};
    _cleanup_engine_runtimes_ struct engine_runtimes runtimes = {0};
    _cleanup_changes_ struct changes changes = {0};
    _cleanup_dump_ struct dump before = {0};
    struct err ignored;

    if (containerd_files_read(path, &files, err) < 0 ||
        engine_runtimes_add_containerd(&runtimes, &files, err) < 0)
        return -1;
    if (install_keep_gpus(&runtimes, "containerd", in, err) < 0)
        return err_wrap(err, "%s", path);
    if (dump_read(path, &before, err) < 0 || read_changes(&files, path, &changes, err) < 0)
        return -1;
    dump_check_version(&before, &files);
    in->systemd_cgroup = dump_systemd(&before);
    if (check_unmarked(&files, &changes, in->name, err) < 0) {
        if (!before.known || dump_compare(&before, in, &ignored) < 0)
            return -1;
        log_info("%s: '%s' is there already, without marks of flatbed install; nothing was changed",
                 path, in->name);
        return 0;
    }
    if (edit_target(&files, &changes, in, err) < 0)
        return -1;
    if (c->dry_run)
        return print_changes(&changes, err);
    if (write_changes(&changes, in, path, &before, err) < 0)
        return -1;
    install_say_gpus(&runtimes, "containerd");
    return 0;
}

/* ---- uninstall ---- */

int uninstall_containerd_files(const struct install_command *c, const struct install *in,
                               const char *path, struct err *err)
{
    _cleanup_containerd_files_ struct containerd_files files = {0};
    _cleanup_changes_ struct changes changes = {0};
    bool changed = false;

    if (containerd_files_read(path, &files, err) < 0) {
        log_warning("only %s is looked at: %s", path, err->msg);
        files.count = 0;
    }
    if (read_changes(&files, path, &changes, err) < 0)
        return -1;
    if (c->dry_run)
        return print_changes(&changes, err);
    for (size_t i = 0; i < changes.count; i++) {
        const struct change *file = &changes.list[i];
        if (!file->differs)
            continue;
        if (write_undo(file, err) < 0)
            return -1;
        changed = true;
        log_info("%s: '%s' was taken out", file->file.path, in->name);
        if (file->file.has_backup && !buf_equal(&file->file.backup, &file->after))
            log_info("the file from before is still in %s" CONFIG_FILE_BACKUP, file->file.path);
    }
    if (check_unmarked(&files, &changes, in->name, err) < 0)
        return -1;
    if (changed)
        log_info("next: systemctl restart containerd");
    else
        log_info("%s: there is no '%s'; nothing was changed", path, in->name);
    return 0;
}
