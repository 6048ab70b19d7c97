/* The file systems of what the policy's volumes show. `flatbed check` looks at the sources
 * themselves. */
#include "shim/admin/doctor/doctor.h"

#include "base/human.h"
#include "shim/admin/doctor/store/store.h"
#include "shim/gather/tuning.h"

#include <string.h>

enum { FULL = 2 /* per cent */ };

static const double slow_lookup = 0.0005; /* seconds */

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
                       struct diagnoses *out)
{
    struct diagnosis *of;

    if (fs->read_only) {
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

/*
 * Judges what a lookup costs on a server. Nothing is said of a server that answers faster than a
 * local disk seeks, nor of a class whose datasets are copied to a local disk.
 */
static void judge_network(const struct policy_volume *v, const char *path,
                          const struct file_system *fs, struct diagnoses *out)
{
    char used[HUMAN_SIZE], memory[HUMAN_SIZE];
    struct tuning_facts host;
    uint64_t bytes = fs->bytes - fs->bytes_free;

    if (fs->kind != FILE_SYSTEM_NETWORK || fs->lookup_time < slow_lookup || v->stage.cache.text)
        return;
    tuning_gather(&host);
    struct diagnosis *of = diagnoses_add(out, DIAGNOSIS_ADVICE, "volume-network", path,
                                         "a lookup takes %.1f ms on %s there (volume %s)",
                                         fs->lookup_time * 1000, fs->name, v->name);
    diagnosis_cost(out, of,
                   "%.0f minutes of waiting for each worker and epoch over a million small files, "
                   "such as ImageNet's%s%s%s%s",
                   fs->lookup_time * 1e6 / 60, bytes > host.memory ? "; " : "",
                   bytes > host.memory ? human_size(bytes, used) : "",
                   bytes > host.memory ? " are used there, and do not stay in this host's " : "",
                   bytes > host.memory ? human_size(host.memory, memory) : "");
    diagnosis_mend(
        out, of,
        "\"stage\": { \"cache\": DIRECTORY } in volumes.%s copies the datasets in use to a "
        "local disk (flatbed-policy(5)); or pack small files in tar archives "
        "(WebDataset), LMDB or HDF5",
        v->name);
}

static void examine_source(const struct policy_volume *v, const char *template,
                           struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    char *path = literal_part(template, &arena);
    const struct file_system_look look = {.path = path, .or_above = true};
    struct file_system_seen seen;

    if (!path || !store_look(&look, &seen, out) || seen.error)
        return;
    path[seen.path_len] = '\0';
    judge_network(v, path, &seen.is, out);
    if (v->access != ACCESS_RW)
        return;
    judge_type(v->name, path, &seen.is, out);
    judge_room(v->name, path, &seen.is, out);
}

void doctor_volumes(const struct policy *policy, struct diagnoses *out)
{
    for (size_t i = 0; i < policy->volume_count; i++)
        if (policy->volumes[i].source.text)
            examine_source(&policy->volumes[i], policy->volumes[i].source.text, out);
}
