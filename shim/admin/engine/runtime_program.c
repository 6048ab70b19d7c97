#include "shim/admin/engine/runtime_program.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SCRIPT_BYTES = 16 * 1024 };

static const char nvidia[] = "nvidia-container-runtime";

enum runtime_kind runtime_kind_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = sizeof(nvidia) - 1;

    if (strcmp(name, "flatbed-runtime") == 0)
        return RUNTIME_FLATBED;
    /* not nvidia-container-runtime-hook */
    if (strncmp(name, nvidia, len) == 0 && (!name[len] || name[len] == '.'))
        return RUNTIME_NVIDIA;
    return RUNTIME_OTHER;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find(const char *name, char path[PATH_MAX])
{
    static const char *const directories[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                              "/usr/bin",        "/sbin",          "/bin"};

    snprintf(path, PATH_MAX, "%s", name);
    if (strchr(name, '/'))
        return name[0] == '/' && is_program(path);
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
        int len = snprintf(path, PATH_MAX, "%s/%s", directories[i], name);
        if (len > 0 && len < PATH_MAX && is_program(path))
            return true;
    }
    snprintf(path, PATH_MAX, "%s", name);
    return false;
}

/* ---- scripts ---- */

/* Reads the beginning of a script; an empty text for other files. */
static void read_script(const char *path, char *text, size_t size)
{
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);

    bool script = len >= 2 && memcmp(text, "#!", 2) == 0;
    text[script ? len : 0] = '\0';
}

/* Returns the kind of the first runtime that a line names; RUNTIME_OTHER for none. */
static enum runtime_kind kind_in_line(const char *line, bool *starts_runc)
{
    static const char between[] = " \t\r\"'`$(){};&|=";

    if (line[strspn(line, " \t")] == '#')
        return RUNTIME_OTHER;
    for (const char *word = line + strspn(line, between); *word; word += strspn(word, between)) {
        char name[PATH_MAX];
        size_t len = strcspn(word, between);
        snprintf(name, sizeof(name), "%.*s", (int)len, word);
        word += len;
        if (strcmp(name, "runc") == 0 || strcmp(name, "/usr/bin/runc") == 0)
            *starts_runc = true;
        if (runtime_kind_of(name) != RUNTIME_OTHER)
            return runtime_kind_of(name);
    }
    return RUNTIME_OTHER;
}

static void examine_script(struct runtime_program *program)
{
    char text[SCRIPT_BYTES], *rest = text;
    enum runtime_kind kind = RUNTIME_OTHER;
    bool starts_runc = false;

    read_script(program->path, text, sizeof(text));
    for (char *line; (line = strsep(&rest, "\n"));) {
        enum runtime_kind found = kind_in_line(line, &starts_runc);
        kind = kind == RUNTIME_OTHER ? found : kind;
    }
    if (program->kind == RUNTIME_OTHER)
        program->kind = kind;
    program->starts_runc = starts_runc && program->kind == RUNTIME_NVIDIA;
}

void runtime_program_find(const char *name, struct runtime_program *out)
{
    *out = (struct runtime_program){.kind = runtime_kind_of(name)};
    out->found = find(name, out->path);
    _cleanup_free_ char *real = out->found ? realpath(out->path, NULL) : NULL;
    if (real && out->kind == RUNTIME_OTHER)
        out->kind = runtime_kind_of(real);
    if (out->found && out->kind != RUNTIME_FLATBED)
        examine_script(out);
}
