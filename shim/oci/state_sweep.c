#include "shim/oci/state_sweep.h"

#include "base/fdio.h"
#include "base/files/atomic_file.h"
#include "shim/host/rundir.h"
#include "shim/oci/launch_mark.h"

#include <dirent.h>
#include <string.h>

static const char suffix[] = ".json";

/* A directory of files that have marks. */
struct place {
    int dirfd;
    bool states;      /* the files are states: their names are those of containers */
    const char *root; /* of the containers: --root, or NULL */
    bool dry;
};

/* Returns true if the file is the state of a container that is still there. Faster than reading
 * it. */
static bool is_kept(const struct place *p, const char *name, size_t len)
{
    _cleanup_buf_ struct buf id = BUF_INIT;

    return p->states && rundir_unescape(name, len, &id) && container_kept(p->root, id.data);
}

static bool is_over(const struct place *p, const char *name)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    if (rundir_read(p->dirfd, name, STATE_BYTES, &text, &ignored) < 0)
        return false;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, NULL, &ignored);
    return doc && launch_mark_over(json_get(json_root(doc), STATE_LAUNCH));
}

static bool sweep_file(const struct place *p, const char *name)
{
    size_t len = strlen(name);

    if (len < sizeof(suffix) || strcmp(name + len - (sizeof(suffix) - 1), suffix) != 0 ||
        is_kept(p, name, len - (sizeof(suffix) - 1)) || !is_over(p, name))
        return false;
    return p->dry || unlinkat(p->dirfd, name, 0) == 0;
}

/* Sweeps a directory whose lock this process has. Returns how many files were left. */
static size_t sweep_place(const struct place *p)
{
    DIR *dir = fd_list_directory(p->dirfd, ".");
    const struct dirent *entry;
    size_t count = 0;

    while (dir && (entry = readdir(dir)))
        count +=
            sweep_file(p, entry->d_name) || atomic_file_sweep_one(p->dirfd, entry->d_name, p->dry);
    if (dir)
        closedir(dir);
    return count;
}

void state_sweep(const char *root)
{
    _cleanup_buf_ struct buf name = BUF_INIT;
    struct err ignored;

    if (rundir_escape(root ? root : "default", &name, &ignored) < 0)
        return;
    _cleanup_fd_ int fd = rundir_open(STATE_DIRECTORY, name.data, false, &ignored);
    if (fd >= 0 && rundir_try_hold(fd))
        sweep_place(&(struct place){.dirfd = fd, .states = true, .root = root});
}

void state_sweep_pools(int dirfd)
{
    sweep_place(&(struct place){.dirfd = dirfd});
}

/* ---- everything ---- */

static int sweep_states_in(const char *name, bool dry, size_t *count, struct err *err)
{
    _cleanup_buf_ struct buf root = BUF_INIT;

    if (!rundir_unescape(name, strlen(name), &root))
        return 0;
    _cleanup_fd_ int fd = rundir_open(STATE_DIRECTORY, name, false, err);
    if (fd < 0 && err_missing(err))
        return 0; /* somebody has removed it */
    if (fd < 0 || rundir_hold(fd, err) < 0)
        return -1;
    struct place p = {.dirfd = fd,
                      .states = true,
                      .root = strcmp(root.data, "default") == 0 ? NULL : root.data,
                      .dry = dry};
    *count += sweep_place(&p);
    return 0;
}

static int sweep_all_states(bool dry, size_t *count, struct err *err)
{
    _cleanup_fd_ int fd = rundir_open(STATE_DIRECTORY, NULL, false, err);
    DIR *dir = fd < 0 ? NULL : fd_list_directory(fd, ".");
    const struct dirent *entry;
    int rc = 0;

    if (fd < 0)
        return err_missing(err) ? 0 : -1;
    if (!dir)
        return err_sys(err, "/run/flatbed/" STATE_DIRECTORY);
    while (rc == 0 && (entry = readdir(dir)))
        rc = sweep_states_in(entry->d_name, dry, count, err);
    closedir(dir);
    return rc;
}

int state_sweep_all(bool dry, size_t *count, struct err *err)
{
    *count = 0;
    if (sweep_all_states(dry, count, err) < 0)
        return -1;
    _cleanup_fd_ int fd = rundir_open(POOL_DIRECTORY, NULL, false, err);
    if (fd < 0)
        return err_missing(err) ? 0 : -1;
    if (rundir_hold(fd, err) < 0)
        return -1;
    *count += sweep_place(&(struct place){.dirfd = fd, .dry = dry});
    return 0;
}
