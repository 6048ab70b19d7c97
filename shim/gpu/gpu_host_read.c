/* Reads what the driver shows in /proc. A file that is missing, or says nothing that is understood,
 * is skipped. */
#include "base/cleanup.h"
#include "base/fdio.h"
#include "shim/gpu/gpu_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

enum { PROC_BYTES = 64 * 1024 };
enum { MOST_CARDS = 256, MOST_RIGHTS = 4096 };

static const char driver[] = "/proc/driver/nvidia";

static void close_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

#define _cleanup_dir_ _cleanup_(close_dir)

static bool read_text(const char *path, struct buf *out)
{
    struct err ignored;

    buf_truncate(out, 0);
    return file_read(AT_FDCWD, path, PROC_BYTES, out, &ignored) == 0 && out->data;
}

int gpu_host_read_majors(struct gpu_host *host, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;

    if (read_text("/proc/devices", &text))
        gpu_host_parse_majors(text.data, host);
    return buf_check(&text, err);
}

/* ---- GPUs ---- */

static int compare_cards(const void *a, const void *b)
{
    const struct gpu_card *x = a, *y = b;

    return strcmp(x->address, y->address);
}

static int add_card(const char *address, const char *text, struct arena *arena,
                    struct gpu_host *host, struct err *err)
{
    struct gpu_card card = {0};

    if (!gpu_host_parse_card(text, arena, &card))
        return 0;
    card.address = arena_strndup(arena, address, strlen(address));
    host->cards = arena_extend(arena, host->cards, host->card_count, sizeof(*host->cards));
    if (!card.address || !card.uuid || !host->cards)
        return err_nomem(err);
    host->cards[host->card_count++] = card;
    return 0;
}

static int read_cards(struct arena *arena, struct gpu_host *host, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_free_ char *path = strf("%s/gpus", driver);
    _cleanup_dir_ DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *entry;

    if (!path)
        return err_nomem(err);
    while (dir && host->card_count < MOST_CARDS && (entry = readdir(dir)) != NULL) {
        _cleanup_free_ char *name = strf("%s/%s/information", path, entry->d_name);
        if (!name)
            return err_nomem(err);
        if (entry->d_name[0] != '.' && read_text(name, &text) &&
            add_card(entry->d_name, text.data, arena, host, err) < 0)
            return -1;
    }
    /* PCI addresses have parts of fixed width, in hexadecimal: their order is that of the text. */
    if (host->card_count)
        qsort(host->cards, host->card_count, sizeof(*host->cards), compare_cards);
    return buf_check(&text, err);
}

/* ---- MIG devices ---- */

/* Reads the number behind "DeviceFileMinor:". */
static bool read_minor(const char *path, unsigned *out)
{
    static const char key[] = "DeviceFileMinor:";
    _cleanup_buf_ struct buf text = BUF_INIT;
    const char *at = read_text(path, &text) ? strstr(text.data, key) : NULL;

    return at && sscanf(at + strlen(key), "%u", out) == 1;
}

static int add_right(const char *path, enum gpu_right_kind kind, unsigned card, struct arena *arena,
                     struct gpu_host *host, struct err *err)
{
    unsigned minor;

    if (host->right_count >= MOST_RIGHTS || !read_minor(path, &minor))
        return 0;
    host->rights = arena_extend(arena, host->rights, host->right_count, sizeof(*host->rights));
    if (!host->rights)
        return err_nomem(err);
    host->rights[host->right_count++] =
        (struct gpu_right){.kind = kind, .minor = minor, .card = card};
    return 0;
}

/* Adds the rights of a directory's entries that begin with `prefix`: gi… with their ci…. */
static int read_instances(const char *path, const char *prefix, unsigned card, struct arena *arena,
                          struct gpu_host *host, struct err *err)
{
    bool compute = strcmp(prefix, "ci") == 0;
    _cleanup_dir_ DIR *dir = opendir(path);
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, prefix, 2) != 0)
            continue;
        _cleanup_free_ char *inner = strf("%s/%s", path, entry->d_name);
        _cleanup_free_ char *access = strf("%s/%s/access", path, entry->d_name);
        if (!inner || !access)
            return err_nomem(err);
        if (add_right(access, compute ? GPU_RIGHT_COMPUTE : GPU_RIGHT_INSTANCE, card, arena, host,
                      err) < 0 ||
            (!compute && read_instances(inner, "ci", card, arena, host, err) < 0))
            return -1;
    }
    return 0;
}

static int read_rights(struct arena *arena, struct gpu_host *host, struct err *err)
{
    static const char *const manage[] = {"config", "monitor"};

    for (size_t i = 0; i < 2; i++) {
        _cleanup_free_ char *path = strf("%s/capabilities/mig/%s", driver, manage[i]);
        if (!path)
            return err_nomem(err);
        if (add_right(path, GPU_RIGHT_MANAGE, 0, arena, host, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < host->card_count; i++) {
        unsigned minor = host->cards[i].minor;
        _cleanup_free_ char *path = strf("%s/capabilities/gpu%u/mig", driver, minor);
        if (!path)
            return err_nomem(err);
        if (read_instances(path, "gi", minor, arena, host, err) < 0)
            return -1;
    }
    return 0;
}

int gpu_host_read_cards(struct arena *arena, struct gpu_host *host, struct err *err)
{
    return read_cards(arena, host, err) < 0 ? -1 : read_rights(arena, host, err);
}
