#include "shim/admin/engine/runtime_program.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

void runtime_program_find(const char *name, struct runtime_program *out)
{
    out->found = find(name, out->path);
    out->kind = runtime_kind_of(name);
    _cleanup_free_ char *real = out->found ? realpath(out->path, NULL) : NULL;
    if (real && out->kind == RUNTIME_OTHER)
        out->kind = runtime_kind_of(real);
}
