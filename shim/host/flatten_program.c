#include "shim/host/flatten_program.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat st;

    return path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

const char *flatten_program(struct arena *arena, struct err *err)
{
    static const char *const directories[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                              "/usr/bin",        "/sbin",          "/bin"};
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[len > 0 ? len : 0] = '\0';
    const char *slash = strrchr(self, '/');
    const char *path =
        slash ? arena_printf(arena, "%.*s/flatten", (int)(slash - self), self) : NULL;
    for (size_t i = 0; !is_program(path) && i < sizeof(directories) / sizeof(*directories); i++)
        path = arena_printf(arena, "%s/flatten", directories[i]);
    if (is_program(path))
        return path;
    err_set(err, ERR_UNSUPPORTED, "flatten is not installed: it is in a package of its own");
    return NULL;
}
