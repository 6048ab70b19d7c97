/* Hooks that an engine or NVIDIA's toolkit puts in: stages and arguments of each. */
#include "base/path.h"
#include "shim/gather/security/hooks.h"

#include <string.h>

static const char *arg(const struct hook *hook, size_t i)
{
    const char *text = json_text(json_at(hook->args, i));

    return text ? text : "";
}

static bool is_program(const struct hook *hook, const char *name)
{
    return strcmp(strrchr(hook->path, '/') + 1, name) == 0;
}

static bool is_stage(const struct hook *hook, const char *name)
{
    return strcmp(hook->stage, name) == 0;
}

static bool consists_of(const char *text, const char *characters)
{
    return *text && text[strspn(text, characters)] == '\0';
}

/*
 * True below the directories of the system's programs. The name alone says nothing elsewhere: a
 * file of that name in an image is in an engine's storage, where only root can write.
 */
static bool is_in_system(const struct hook *hook)
{
    return path_is_beneath(hook->path, "/usr") || path_is_beneath(hook->path, "/bin") ||
           path_is_beneath(hook->path, "/sbin");
}

/* ---- engines ---- */

/* The container of a step in BuildKit has an id of digits and all letters. */
bool hook_is_dockers(const struct hook *hook)
{
    static const char prefix[] = "/proc/", option[] = "-exec-root=/", hex[] = "0123456789abcdef",
                      word[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const char *pid = hook->path + strlen(prefix);

    if (strncmp(hook->path, prefix, strlen(prefix)) != 0)
        return false;
    size_t digits = strspn(pid, "0123456789");
    return digits && strcmp(pid + digits, "/exe") == 0 && json_count(hook->args) == 4 &&
           strcmp(arg(hook, 0), "libnetwork-setkey") == 0 &&
           strncmp(arg(hook, 1), option, strlen(option)) == 0 && consists_of(arg(hook, 2), word) &&
           consists_of(arg(hook, 3), hex);
}

/* True for an option of nerdctl that names neither a directory nor a program. */
static bool is_nerdctl_option(const char *text)
{
    static const char *const names[] = {"a",
                                        "address",
                                        "cgroup-manager",
                                        "debug",
                                        "H",
                                        "debug-full",
                                        "experimental",
                                        "host",
                                        "n",
                                        "namespace",
                                        "host-gateway-ip",
                                        "snapshotter",
                                        "storage-driver",
                                        "insecure-registry"};
    size_t len = strncmp(text, "--", 2) == 0 ? strcspn(text + 2, "=") : 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == len && strncmp(names[i], text + 2, len) == 0)
            return text[2 + len] == '=';
    return false;
}

/* With its options for plugins and data, nerdctl would execute programs of a user. */
static bool is_nerdctls(const struct hook *hook)
{
    size_t count = json_count(hook->args);

    if (!is_program(hook, "nerdctl") || !is_in_system(hook) || count < 4 ||
        strcmp(arg(hook, count - 3), "internal") != 0 ||
        strcmp(arg(hook, count - 2), "oci-hook") != 0)
        return false;
    for (size_t i = 1; i < count - 3; i++)
        if (!is_nerdctl_option(arg(hook, i)))
            return false;
    return true;
}

bool hook_is_own(const struct hook *hook)
{
    if (!is_program(hook, "flatbed-runtime"))
        return false;
    if (is_stage(hook, "createContainer"))
        return strcmp(arg(hook, 1), "--flatbed-check-mounts") == 0;
    return is_stage(hook, "createRuntime") && strcmp(arg(hook, 1), "--flatbed-deny-console") == 0;
}

/* ---- NVIDIA's toolkit ---- */

/* True for a clean path below the directories of the driver's libraries in a container. */
static bool is_library_path(const char *path)
{
    static const char *const directories[] = {"/usr", "/lib", "/lib32", "/lib64"};

    for (size_t i = 0; path_is_clean_absolute(path) && i < 4; i++)
        if (path_is_beneath(path, directories[i]))
            return true;
    return false;
}

/* "TARGET::LINK": the text of a symbolic link, and where it is made. */
static bool is_link(const char *value)
{
    const char *colons = strstr(value, "::");

    return colons && colons > value && !strstr(colons + 2, "::") && is_library_path(colons + 2);
}

/* The program is executed as root: "@" means a path of the host. */
static bool is_ldconfig(const char *value)
{
    return strcmp(value, "@/sbin/ldconfig") == 0 || strcmp(value, "@/sbin/ldconfig.real") == 0 ||
           strcmp(value, "@/usr/sbin/ldconfig") == 0 ||
           strcmp(value, "@/usr/sbin/ldconfig.real") == 0;
}

static bool is_version(const char *value)
{
    return consists_of(value, "0123456789.");
}

/*
 * The hooks that the toolkit itself puts in (1.17 and 1.19), each option with a value. `chmod` is
 * not among them: only a specification of the host may ask for that.
 */
static const struct form {
    const char *subcommand, *option;
    bool (*is_value)(const char *value);
} forms[] = {
    {"create-symlinks", "--link", is_link},
    {"create-soname-symlinks", "--folder", is_library_path},
    {"create-soname-symlinks", "--ldconfig-path", is_ldconfig},
    {"update-ldcache", "--folder", is_library_path},
    {"update-ldcache", "--ldconfig-path", is_ldconfig},
    {"enable-cuda-compat", "--host-driver-version", is_version},
    {"enable-cuda-compat", "--host-cuda-version", is_version},
    {"disable-device-node-modification", NULL, NULL},
};

/* Returns how many arguments the option at `i` takes up, as "--option value" or "--option=value";
 * 0 if the subcommand has no such option, or not with that value. */
static size_t option_words(const struct hook *hook, const char *subcommand, size_t i)
{
    for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
        size_t len = forms[f].option ? strlen(forms[f].option) : 0;
        const char *text = arg(hook, i);
        if (!len || strcmp(forms[f].subcommand, subcommand) != 0 ||
            strncmp(text, forms[f].option, len) != 0)
            continue;
        if (text[len] == '=')
            return forms[f].is_value(text + len + 1) ? 1 : 0;
        if (text[len] == '\0')
            return i + 1 < json_count(hook->args) && forms[f].is_value(arg(hook, i + 1)) ? 2 : 0;
    }
    return 0;
}

/* True if the arguments from `first` on are a subcommand with options that the toolkit gives it. */
static bool has_form(const struct hook *hook, size_t first)
{
    const char *subcommand = arg(hook, first);
    size_t f = 0;

    while (f < sizeof(forms) / sizeof(*forms) && strcmp(forms[f].subcommand, subcommand) != 0)
        f++;
    if (f == sizeof(forms) / sizeof(*forms))
        return false;
    for (size_t i = first + 1; i < json_count(hook->args);) {
        size_t words = option_words(hook, subcommand, i);
        if (!words)
            return false;
        i += words;
    }
    return true;
}

/* A hook of a later stage would run while the container's processes change what it works on. */
static bool is_toolkits(const struct hook *hook)
{
    if (!is_in_system(hook))
        return false;
    if (is_program(hook, "nvidia-container-runtime-hook") ||
        is_program(hook, "nvidia-container-toolkit"))
        return (is_stage(hook, "prestart") || is_stage(hook, "createRuntime")) &&
               json_count(hook->args) == 2 && strcmp(arg(hook, 1), "prestart") == 0;
    if (!is_stage(hook, "createContainer"))
        return false;
    if (is_program(hook, "nvidia-ctk"))
        return strcmp(arg(hook, 1), "hook") == 0 && has_form(hook, 2);
    return is_program(hook, "nvidia-cdi-hook") && has_form(hook, 1);
}

bool hook_is_known(const struct hook *hook)
{
    return is_nerdctls(hook) || is_toolkits(hook);
}
