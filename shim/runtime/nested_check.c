#include "shim/runtime/nested_check.h"

#include "shim/apply/nested_hook.h"
#include "shim/apply/own_hook.h"
#include "shim/mount/mount_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool nested_is_hook(int argc, char *const argv[])
{
    return argc > NESTED_ROOT && strcmp(argv[1], own_hook_mounts.option) == 0;
}

static bool is_at(const struct mount_entry *m, const char *root, const char *target)
{
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

    return strncmp(m->point, root, len) == 0 && strcmp(m->point + len, target) == 0;
}

static bool is_mount(const struct mount_entry *m, const char *root, char *const words[])
{
    char device[32];

    if (!is_at(m, root, words[2]))
        return false;
    if (strcmp(words[0], NESTED_BY_TYPE) == 0)
        return !*words[1] || strcmp(m->type, words[1]) == 0;
    snprintf(device, sizeof(device), "%u:%u", m->major, m->minor);
    return strcmp(device, words[0]) == 0 && strcmp(m->root, words[1]) == 0;
}

static bool are_same(char *const a[], char *const b[])
{
    return strcmp(a[0], b[0]) == 0 && strcmp(a[1], b[1]) == 0 && strcmp(a[2], b[2]) == 0;
}

/*
 * Reads the container's state, which the hook has no use for, to its end: to crun, which writes it
 * into a pipe, a hook that ended before that is an error ("writing to pipe: Broken pipe").
 */
static int pass_over_state(struct err *err)
{
    char part[BUFSIZ];
    ssize_t got;

    do
        got = read(STDIN_FILENO, part, sizeof(part));
    while (got > 0 || (got < 0 && errno == EINTR));
    return got < 0 ? err_sys(err, "the state of the container") : 0;
}

int nested_check(int argc, char *const argv[], struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;

    if (pass_over_state(err) < 0)
        return -1;
    if (mount_table_read(&arena, &table, err) < 0)
        return -1;
    for (int i = NESTED_FIRST; i + NESTED_WORDS <= argc; i += NESTED_WORDS) {
        size_t wanted = 0, found = 0;
        for (int k = NESTED_FIRST; k + NESTED_WORDS <= argc; k += NESTED_WORDS)
            wanted += are_same(argv + i, argv + k);
        for (size_t k = 0; k < table.count; k++)
            found += is_mount(&table.list[k], argv[NESTED_ROOT], argv + i);
        if (found < wanted)
            return err_set(
                err, ERR_POLICY,
                "the mount on %s was mounted elsewhere: a symbolic link was put there while the "
                "container was made",
                argv[i + 2]);
    }
    return 0;
}
