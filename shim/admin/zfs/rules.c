#include "shim/admin/zfs/rules.h"

#include "base/human.h"

#include <string.h>
#include <strings.h>

enum {
    KIB = 1024,
    MIB = 1024 * KIB,
    ENTRY = 320 /* bytes in RAM of a block that is found again */
};

const char *const zfs_use_names[ZFS_USES] = {"image store", "models", "datasets", "scratch",
                                             "logs"};

/* ---- record sizes ---- */

struct record {
    uint64_t least, most; /* bytes that are right */
    const char *should, *why;
};

static const struct record records[ZFS_USES] = {
    [ZFS_IMAGES] = {64 * KIB, 256 * KIB, "128K",
                    "programs map libraries and read pages here and there: larger records read "
                    "more than is asked for, smaller ones compress less"},
    [ZFS_MODELS] =
        {MIB, 16 * MIB, "1M",
         "weights are read from beginning to end: an eighth of the blocks and checksums"},
    [ZFS_DATASETS] = {MIB, 16 * MIB, "1M",
                      "archives are read in long runs, and small files take a record of their own "
                      "size; 128K for databases that are read at random (LMDB, HDF5)"},
    [ZFS_SCRATCH] = {128 * KIB, 16 * MIB, "1M", "checkpoints are written and read in long runs"},
    [ZFS_LOGS] =
        {128 * KIB, MIB, "128K",
         "lines are appended: smaller records compress less, each append rewrites the last"},
};

static int judge_record(const struct zfs_dataset *d, enum zfs_use use, struct arena *arena,
                        struct zfs_judgement *out)
{
    const struct record *r = &records[use];
    bool whole = d->recordsize % MIB == 0;

    out->is = arena_printf(arena, "%llu%s",
                           (unsigned long long)(d->recordsize % KIB ? d->recordsize
                                                : whole             ? d->recordsize / MIB
                                                                    : d->recordsize / KIB),
                           d->recordsize % KIB ? ""
                           : whole             ? "M"
                                               : "K");
    out->should = r->should;
    out->why = r->why;
    out->weight = d->recordsize >= r->least && d->recordsize <= r->most ? ZFS_RIGHT : ZFS_WORTH;
    return out->is ? 1 : -1;
}

/* ---- properties that are words ---- */

static bool is(const char *value, const char *wanted)
{
    return value && strcmp(value, wanted) == 0;
}

static int judge_compression(const struct zfs_dataset *d, enum zfs_use use,
                             struct zfs_judgement *out)
{
    out->is = d->compression;
    out->should = use == ZFS_LOGS ? "zstd" : "lz4";
    out->why = use == ZFS_MODELS
                   ? "weights hardly shrink, but lz4 gives up early, and the end of a last record "
                     "takes no room"
                   : "libraries, Python's files, text and zeros shrink by half; reading is faster "
                     "than the disk";
    out->weight = is(d->compression, "off") || is(d->compression, "zle") ? ZFS_WORTH : ZFS_RIGHT;
    return 1;
}

static int judge_atime(const struct zfs_dataset *d, struct zfs_judgement *out)
{
    out->is = is(d->atime, "on") && is(d->relatime, "on") ? "on, relatime" : d->atime;
    out->should = "off";
    out->why = "each first read of a file is also a write, which a snapshot keeps";
    out->weight = is(d->atime, "on") && !is(d->relatime, "on") ? ZFS_WORTH : ZFS_RIGHT;
    return 1;
}

static int judge_xattr(const struct zfs_dataset *d, struct zfs_judgement *out)
{
    bool off = is(d->xattr, "off");

    out->is = d->xattr;
    out->should = "sa";
    out->why = off ? "overlayfs marks removed and copied directories by extended attributes, and "
                     "cannot use an upper directory without them"
                   : "each extended attribute is a hidden directory with a file: three more reads "
                     "for each mark of overlayfs; sa keeps them in the inode";
    out->weight = off ? ZFS_BROKEN : ZFS_WORTH;
    if (is(d->xattr, "sa"))
        out->weight = ZFS_RIGHT;
    return 1;
}

static int judge_dnodesize(const struct zfs_dataset *d, struct zfs_judgement *out)
{
    out->is = d->dnodesize;
    out->should = "auto";
    out->why = "attributes of xattr=sa that do not fit the inode of 512 bytes take a block of "
               "their own";
    out->weight = is(d->dnodesize, "legacy") ? ZFS_WORTH : ZFS_RIGHT;
    return 1;
}

/* The table of deduplication: its entries, or as many as the dataset has records. */
static int judge_dedup(const struct zfs_dataset *d, struct arena *arena, struct zfs_judgement *out)
{
    uint64_t records_used = d->recordsize ? d->used / d->recordsize + 1 : 0;
    uint64_t entries = d->dedup_entries ? d->dedup_entries : records_used;
    char size[HUMAN_SIZE];

    out->is = d->dedup;
    out->should = "off";
    out->weight = is(d->dedup, "off") ? ZFS_RIGHT : ZFS_COSTLY;
    out->why = out->weight == ZFS_RIGHT
                   ? "layers are shared by the engine already, and 'flatten analyze' tells what "
                     "more deduplication would find"
                   : arena_printf(arena,
                                  "its table has %s%llu entries of about %d bytes: %s of RAM, or "
                                  "each write reads the disk first; off leaves what is written "
                                  "already",
                                  d->dedup_entries ? "" : "at least ", (unsigned long long)entries,
                                  ENTRY, human_size(entries * ENTRY, size));
    return out->why ? 1 : -1;
}

/* ---- all ---- */

int zfs_judge(const struct zfs_dataset *d, enum zfs_use use, struct arena *arena,
              struct zfs_judgement out[ZFS_RULES])
{
    struct zfs_judgement *next = out;
    bool failed = false;

#define JUDGE(name, asked, call)                                                                   \
    if (asked) {                                                                                   \
        next->property = (name);                                                                   \
        failed = (call) < 0 || failed;                                                             \
        next++;                                                                                    \
    }
    JUDGE("recordsize", d->recordsize, judge_record(d, use, arena, next))
    JUDGE("compression", d->compression, judge_compression(d, use, next))
    JUDGE("atime", d->atime, judge_atime(d, next))
    JUDGE("xattr", use == ZFS_IMAGES && d->xattr, judge_xattr(d, next))
    JUDGE("dnodesize", use == ZFS_IMAGES && d->dnodesize, judge_dnodesize(d, next))
    JUDGE("dedup", d->dedup, judge_dedup(d, arena, next))
#undef JUDGE
    return failed ? -1 : (int)(next - out);
}

/* ---- uses ---- */

enum zfs_use zfs_guess_use(const char *name, bool read_only)
{
    static const struct {
        const char *word;
        enum zfs_use use;
    } words[] = {
        {"model", ZFS_MODELS},    {"weight", ZFS_MODELS},      {"huggingface", ZFS_MODELS},
        {"hf_home", ZFS_MODELS},  {"torch_home", ZFS_MODELS},  {"dataset", ZFS_DATASETS},
        {"scratch", ZFS_SCRATCH}, {"checkpoint", ZFS_SCRATCH}, {"tmp", ZFS_SCRATCH},
        {"logs", ZFS_LOGS},       {"/log", ZFS_LOGS},          {"tensorboard", ZFS_LOGS},
        {"data", ZFS_DATASETS},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcasestr(name, words[i].word))
            return words[i].use;
    return read_only ? ZFS_DATASETS : ZFS_SCRATCH;
}

const char *zfs_parse_use(const char *word, enum zfs_use *use)
{
    static const char *const names[ZFS_USES] = {"images", "models", "datasets", "scratch", "logs"};

    for (int i = 0; i < ZFS_USES; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(word, names[i], len) == 0 && word[len] == '=') {
            *use = (enum zfs_use)i;
            return word + len + 1;
        }
    }
    return NULL;
}
