/* The file systems of what the policy's volumes show. `flatbed check` looks at the sources
 * themselves. */
#include "shim/admin/doctor/doctor.h"

#include "base/human.h"
#include "shim/admin/doctor/file_system.h"
#include "shim/admin/doctor/store.h"

#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>

enum { FULL = 2 /* per cent */ };

/* Returns the directory before the first variable of a template, kept in the arena; or NULL. */
static char *literal_part(const char *template, struct arena *arena)
{
    size_t len = strcspn(template, "{");

    if (template[0] != '/')
        return NULL;
    if (template[len])
        while (len > 1 && template[len - 1] != '/')
            len--;
    while (len > 1 && template[len - 1] == '/')
        len--;
    return arena_strndup(arena, template, len);
}

/* Opens the directory, or the first one above it that exists. Shortens the path to that. */
static int open_existing(char *path)
{
    for (;;) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *slash = strrchr(path, '/');
        if (fd >= 0 || errno != ENOENT || path[1] == '\0')
            return fd;
        slash[slash == path] = '\0';
    }
}

static void judge_room(const char *volume, const char *path, const struct file_system *fs,
                       struct diagnoses *out)
{
    double bytes = human_share(fs->bytes_free, fs->bytes);
    double inodes = fs->inodes ? human_share(fs->inodes_free, fs->inodes) : 100;
    char left[HUMAN_SIZE];

    if (bytes >= FULL && inodes >= FULL)
        return;
    struct diagnosis *of =
        bytes < FULL ? diagnoses_add(out, DIAGNOSIS_WARNING, "volume-room", path,
                                     "%s are free (%.0f %%), and volume %s is written there",
                                     human_size(fs->bytes_free, left), bytes, volume)
                     : diagnoses_add(out, DIAGNOSIS_WARNING, "volume-room", path,
                                     "%llu inodes are free (%.0f %%), and volume %s is written "
                                     "there",
                                     (unsigned long long)fs->inodes_free, inodes, volume);
    diagnosis_cost(out, of, "logs and checkpoints are lost when nothing is left");
    diagnosis_mend(out, of, "du --one-file-system --max-depth=2 %s", path);
}

static void judge_type(const char *volume, const char *path, const struct file_system *fs,
                       bool read_only, struct diagnoses *out)
{
    struct diagnosis *of;

    if (read_only) {
        of = diagnoses_add(out, DIAGNOSIS_ERROR, "volume-type", path,
                           "it is mounted read-only, and volume %s is to be written", volume);
        diagnosis_cost(out, of, "containers that write to it fail");
        diagnosis_mend(out, of, "mount -o remount,rw; or \"access\": \"ro\" in the policy");
    } else if (fs->kind == FILE_SYSTEM_MEMORY) {
        of = diagnoses_add(out, DIAGNOSIS_ADVICE, "volume-type", path,
                           "it is on %s, and volume %s is written there", fs->name, volume);
        diagnosis_cost(out, of, "what containers write takes memory, and is gone after a restart");
        diagnosis_mend(out, of, "a directory on a disk as the volume's source");
    } else {
        diagnoses_add(out, DIAGNOSIS_OK, "volume-type", path, "it is on %s (volume %s)", fs->name,
                      volume);
    }
}

static void examine_source(const struct policy_volume *v, const char *template,
                           struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    char *path = literal_part(template, &arena);
    struct file_system fs;
    struct statvfs room;
    struct err ignored;

    if (!path || v->access != ACCESS_RW || !store_answers(path, out))
        return;
    _cleanup_fd_ int fd = open_existing(path);
    if (fd < 0 || file_system_of(fd, &fs, &ignored) < 0 || fstatvfs(fd, &room) < 0)
        return;
    judge_type(v->name, path, &fs, room.f_flag & ST_RDONLY, out);
    judge_room(v->name, path, &fs, out);
}

void doctor_volumes(const struct policy *policy, struct diagnoses *out)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        if (policy->volumes[i].source.text)
            examine_source(&policy->volumes[i], policy->volumes[i].source.text, out);
}
