#include "shim/admin/doctor/store.h"

#include "base/human.h"
#include "shim/admin/doctor/file_system.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/mount/source_wait.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FEW = 10, HARDLY_ANY = 2 /* per cent */ };

static const uint64_t measured = 64u << 20, typical = 500u * 1000 * 1000;

static void judge_type(const char *path, const struct file_system *fs, struct diagnoses *out)
{
    static const char elsewhere[] = "move the store to a local ext4 or XFS file system (Docker's "
                                    "data-root, containerd's root, podman's graphroot)";
    struct diagnosis *of;

    if (fs->kind == FILE_SYSTEM_NETWORK || fs->kind == FILE_SYSTEM_OVERLAY) {
        of = diagnoses_add(out, DIAGNOSIS_ERROR, "store-type", path, "it is on %s", fs->name);
        diagnosis_cost(out, of,
                       "overlayfs cannot have containers' files there; engines fail, or copy "
                       "each image for each container (vfs)");
        diagnosis_mend(out, of, "%s", elsewhere);
    } else if (fs->kind == FILE_SYSTEM_MEMORY) {
        of = diagnoses_add(out, DIAGNOSIS_WARNING, "store-type", path, "it is on %s", fs->name);
        diagnosis_cost(out, of, "images take memory, and are gone after a restart");
        diagnosis_mend(out, of, "%s", elsewhere);
    } else if (fs->untyped) {
        of = diagnoses_add(out, DIAGNOSIS_ERROR, "store-type", path,
                           "%s there does not tell the types of entries (ftype=0)", fs->name);
        diagnosis_cost(out, of, "overlayfs cannot have containers' files there");
        diagnosis_mend(out, of, "mkfs.xfs -n ftype=1, which is the default since 2015");
    } else {
        diagnoses_add(out, DIAGNOSIS_OK, "store-type", path, "it is on %s", fs->name);
    }
}

static void judge_disk(const char *path, const struct file_system *fs, struct diagnoses *out)
{
    if (fs->kind != FILE_SYSTEM_LOCAL || !fs->rotating)
        return;
    struct diagnosis *of =
        diagnoses_add(out, DIAGNOSIS_WARNING, "store-rotating", path, "its disk rotates");
    diagnosis_cost(out, of,
                   "a cold import of Python's packages waits some ms for each of thousands of "
                   "files");
    diagnosis_mend(out, of, "move the store to an SSD; or run 'flatten' on the images in use");
}

static enum diagnosis_level level_of(double share)
{
    if (share < HARDLY_ANY)
        return DIAGNOSIS_ERROR;
    return share < FEW ? DIAGNOSIS_WARNING : DIAGNOSIS_OK;
}

static void judge_room(const char *path, const struct file_system *fs, struct diagnoses *out)
{
    char size[HUMAN_SIZE], left[HUMAN_SIZE];
    double bytes = human_share(fs->bytes_free, fs->bytes);
    double inodes = fs->inodes ? human_share(fs->inodes_free, fs->inodes) : 100;
    bool of_bytes = bytes <= inodes;
    enum diagnosis_level level = level_of(of_bytes ? bytes : inodes);
    struct diagnosis *of;

    if (of_bytes)
        of = diagnoses_add(out, level, "store-room", path, "%s of %s are free (%.0f %%)",
                           human_size(fs->bytes_free, left), human_size(fs->bytes, size), bytes);
    else
        of = diagnoses_add(out, level, "store-room", path, "%llu of %llu inodes are free (%.0f %%)",
                           (unsigned long long)fs->inodes_free, (unsigned long long)fs->inodes,
                           inodes);
    if (level == DIAGNOSIS_OK)
        return;
    diagnosis_cost(out, of, "pulls and containers that write fail when nothing is left");
    diagnosis_mend(
        out, of,
        "docker system df, docker image prune; podman system prune; flatbed gc, flatbed stale; "
        "'flatten analyze' shows what images waste");
}

/* Says what a copy-up costs there, and what would make it cheaper. */
static void judge_copy(const char *path, const struct file_system *fs, const struct copy_cost *cost,
                       struct diagnoses *out)
{
    bool could_share = strcmp(fs->name, "XFS") == 0;
    char size[HUMAN_SIZE];

    if (cost->shares) {
        diagnoses_add(out, DIAGNOSIS_OK, "store-copyup", path,
                      "the first write to a file of an image shares its blocks: %.1f ms for any "
                      "size",
                      cost->seconds * 1000);
        return;
    }
    struct diagnosis *of =
        diagnoses_add(out, could_share ? DIAGNOSIS_ADVICE : DIAGNOSIS_OK, "store-copyup", path,
                      "the first write to a file of an image copies it: %.0f ms for 500 MB "
                      "(measured with %s)",
                      cost->seconds * 1000 * (double)typical / (double)cost->bytes,
                      human_size(cost->bytes, size));
    if (could_share)
        diagnosis_mend(out, of,
                       "mkfs.xfs -m reflink=1, when the store is next made: copies share blocks");
}

static void examine_copy(const char *path, int fd, const struct file_system *fs,
                         struct diagnoses *out)
{
    struct copy_cost cost;
    struct err ignored;

    if (fs->kind != FILE_SYSTEM_LOCAL || fs->bytes_free < 8 * measured || geteuid() != 0 ||
        !diagnoses_want(out, "store-copyup"))
        return;
    if (copy_cost_measure(fd, measured, &cost, &ignored) == 0)
        judge_copy(path, fs, &cost, out);
}

/* Returns false for a path that does not answer, which is a diagnosis. */
bool store_answers(const char *path, struct diagnoses *out)
{
    if (source_answers(path, ENGINE_STORE_WAIT))
        return true;
    struct diagnosis *of =
        diagnoses_add(out, DIAGNOSIS_ERROR, "store-hangs", path, "it does not answer within %d s",
                      ENGINE_STORE_WAIT / 1000);
    diagnosis_cost(out, of, "each launch hangs there");
    diagnosis_mend(out, of, "look at its server, or at the disk's messages in dmesg");
    return false;
}

void store_examine(const char *path, bool asked, struct diagnoses *out)
{
    struct file_system fs;
    struct err err = ERR_INIT;

    if (!store_answers(path, out))
        return;
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && !asked)
        return;
    if (fd < 0 || file_system_of(fd, &fs, &err) < 0) {
        if (fd < 0)
            err_sys(&err, "it cannot be opened");
        diagnoses_add(out, DIAGNOSIS_WARNING, "store-unread", path, "%s", err.msg);
        return;
    }
    judge_type(path, &fs, out);
    judge_disk(path, &fs, out);
    judge_room(path, &fs, out);
    examine_copy(path, fd, &fs, out);
}
