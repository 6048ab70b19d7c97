#include "shim/admin/doctor/store/store.h"

#include "base/cli/log.h"
#include "base/human.h"
#include "base/path.h"
#include "shim/admin/engine/engine_stores.h"
#include "shim/mount/mount_table.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FEW = 10, HARDLY_ANY = 2 /* per cent */ };
enum { PATIENCE = 8000, LEAST_WAIT = 1000 /* ms */ };

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

/* Both are the default since 2006: only a file system from before, or one of ext3, lacks them. */
static void judge_ext4(const char *path, const struct file_system *fs, struct diagnoses *out)
{
    if (!fs->no_dir_index && !fs->no_extents)
        return;
    struct diagnosis *of = diagnoses_add(
        out, DIAGNOSIS_WARNING, "store-ext4", path, "its ext4 has no %s%s%s",
        fs->no_dir_index ? "dir_index" : "", fs->no_dir_index && fs->no_extents ? " and no " : "",
        fs->no_extents ? "extents" : "");
    diagnosis_cost(out, of, "%s%s%s",
                   fs->no_dir_index ? "a lookup reads a directory from its beginning" : "",
                   fs->no_dir_index && fs->no_extents ? "; " : "",
                   fs->no_extents ? "files of GB are mapped, and removed, block by block" : "");
    diagnosis_mend(out, of,
                   "unmounted: tune2fs -O %s%s%s DEVICE, then e2fsck -fD DEVICE; or make it anew",
                   fs->no_dir_index ? "dir_index" : "",
                   fs->no_dir_index && fs->no_extents ? "," : "", fs->no_extents ? "extent" : "");
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

static void examine_copy(const char *path, const struct file_system *fs, struct diagnoses *out)
{
    struct copy_cost cost;
    struct err ignored;

    if (fs->kind != FILE_SYSTEM_LOCAL || fs->bytes_free < 8 * measured || geteuid() != 0 ||
        !diagnoses_want(out, "store-copyup"))
        return;
    _cleanup_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && copy_cost_measure(fd, measured, &cost, &ignored) == 0)
        judge_copy(path, fs, &cost, out);
}

unsigned store_patience(const struct diagnoses *d)
{
    unsigned left = d->waited < PATIENCE ? PATIENCE - d->waited : 0;

    if (left > ENGINE_STORE_WAIT)
        return ENGINE_STORE_WAIT;
    return left > LEAST_WAIT ? left : LEAST_WAIT;
}

bool store_hangs(const char *path, const struct diagnoses *d)
{
    for (size_t i = 0; i < d->hanging_count; i++)
        if (path_is_beneath(path, d->hanging[i]))
            return true;
    return false;
}

/* Returns the mount point of the path, or the path, in the arena. */
static const char *hanging_part(const char *path, struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    struct mount_table table;
    struct err ignored;
    const char *point =
        mount_table_read(&arena, &table, &ignored) == 0 ? mount_table_over(&table, path) : NULL;

    point = arena_strndup(&out->arena, point ? point : path, strlen(point ? point : path));
    out->failed = out->failed || !point;
    return point ? point : "/";
}

static void say_hangs(const char *path, unsigned waited, struct diagnoses *out)
{
    const char *part = hanging_part(path, out);
    struct diagnosis *of =
        diagnoses_add(out, DIAGNOSIS_ERROR, "store-hangs", path,
                      "it does not answer within %.3g s; nothing else below %s is looked at",
                      (double)waited / 1000, part);

    diagnosis_cost(out, of, "each launch hangs there");
    diagnosis_mend(out, of, "look at its server, or at the disk's messages in dmesg");
    if (!out->silent)
        log_warning("%s does not answer; the rest is looked at", path);
    out->waited += waited;
    if (out->hanging_count < DIAGNOSES_HANGING_MOST)
        out->hanging[out->hanging_count++] = part;
}

bool store_look(const struct file_system_look *look, struct file_system_seen *seen,
                struct diagnoses *out)
{
    struct file_system_look patient = *look;
    const char *path = look->home ? look->home : look->path;
    struct err ignored;

    if (store_hangs(path, out))
        return false;
    patient.milliseconds = store_patience(out);
    int rc = file_system_look(&patient, seen, &ignored);
    if (rc > 0)
        say_hangs(path, patient.milliseconds, out);
    return rc == 0;
}

void store_judge(const char *path, const struct file_system *fs, struct diagnoses *out)
{
    judge_type(path, fs, out);
    judge_ext4(path, fs, out);
    judge_disk(path, fs, out);
    judge_room(path, fs, out);
}

void store_judge_driver(const char *path, const char *driver, struct diagnoses *out)
{
    if (!driver)
        return;
    struct diagnosis *of = diagnoses_add(out, DIAGNOSIS_WARNING, "store-driver", path,
                                         "it has images of the storage driver %s", driver);
    if (strcmp(driver, "vfs") == 0) {
        diagnosis_cost(out, of,
                       "each layer and each container is a whole copy of what is below it");
        diagnosis_mend(
            out, of,
            "on ext4 or XFS: the driver overlay2 in daemon.json, overlay in storage.conf; "
            "then pull the images again");
    } else {
        diagnosis_cost(out, of,
                       "each lookup and read passes through a program, which is not the kernel's "
                       "overlayfs");
        diagnosis_mend(out, of,
                       "from Linux 5.13 on: no mount_program in storage.conf, then 'podman system "
                       "reset'; Docker: the driver overlay2");
    }
}

void store_examine(const char *path, bool asked, struct diagnoses *out)
{
    const struct file_system_look look = {.path = path};
    struct file_system_seen seen;

    if (!store_look(&look, &seen, out) || (seen.error == ENOENT && !asked))
        return;
    if (seen.error) {
        diagnoses_add(out, DIAGNOSIS_WARNING, "store-unread", path, "it cannot be opened: %s",
                      strerror(seen.error));
        return;
    }
    store_judge(path, &seen.is, out);
    examine_copy(path, &seen.is, out);
    store_judge_driver(path, seen.driver, out);
}
