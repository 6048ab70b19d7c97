#include "shim/warm/read/residency.h"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { WINDOW = 64 * 1024 * 1024, LEAST_PAGE = 4096 };

/* A part of a file, and a byte for each of its pages. */
struct window {
    uint64_t start;
    size_t len, page;
    unsigned char pages[WINDOW / LEAST_PAGE];
};

/* Looks at the file from `start`, a multiple of the page's size. False if it cannot be seen. */
static bool look(int fd, uint64_t start, uint64_t len, struct window *out)
{
    out->page = (size_t)sysconf(_SC_PAGESIZE);
    out->start = start;
    out->len = len < WINDOW ? (size_t)len : WINDOW;
    void *map = mmap(NULL, out->len, PROT_READ, MAP_SHARED, fd, (off_t)start);
    if (map == MAP_FAILED)
        return false;
    bool seen = mincore(map, out->len, out->pages) == 0;
    munmap(map, out->len);
    return seen;
}

uint64_t residency_bytes(int fd, uint64_t start, uint64_t len)
{
    struct window w;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = start + len, at = start - start % page;
    uint64_t bytes = 0;

    for (; at < end; at += w.len) {
        if (!look(fd, at, end - at, &w))
            return bytes;
        for (size_t i = 0; i * w.page < w.len; i++)
            bytes += w.pages[i] & 1 ? w.page : 0;
    }
    return bytes < len ? bytes : len;
}

/* Returns true if a page of the chunk at that offset of the window is cached. */
static bool has_page(const struct window *w, size_t offset)
{
    size_t end = offset + RESIDENCY_CHUNK < w->len ? offset + RESIDENCY_CHUNK : w->len;

    for (size_t i = offset / w->page; i * w->page < end; i++)
        if (w->pages[i] & 1)
            return true;
    return false;
}

/* Adds a chunk behind the ranges so far. */
static void add_chunk(struct warm_range *ranges, size_t *count, uint64_t start, uint64_t len)
{
    struct warm_range *last = *count ? &ranges[*count - 1] : NULL;

    if (last && (last->start + last->len == start || *count == RESIDENCY_RANGES))
        last->len = start + len - last->start;
    else
        ranges[(*count)++] = (struct warm_range){start, len};
}

int residency_ranges(int fd, uint64_t size, struct arena *arena, const struct warm_range **out,
                     size_t *count, struct err *err)
{
    struct warm_range ranges[RESIDENCY_RANGES];
    struct window w;

    *count = 0;
    for (uint64_t at = 0; at < size; at += w.len) {
        if (!look(fd, at, size - at, &w))
            break;
        for (size_t i = 0; i < w.len; i += RESIDENCY_CHUNK)
            if (has_page(&w, i))
                add_chunk(ranges, count, at + i,
                          w.len - i < RESIDENCY_CHUNK ? w.len - i : RESIDENCY_CHUNK);
    }
    struct warm_range *copy = arena_alloc(arena, (*count + 1) * sizeof(*copy));
    if (!copy)
        return err_nomem(err);
    memcpy(copy, ranges, *count * sizeof(*copy));
    *out = copy;
    return 0;
}

uint64_t residency_position(int fd, uint64_t offset)
{
    struct {
        struct fiemap map;
        struct fiemap_extent extent;
    } ask = {.map = {.fm_start = offset, .fm_length = 1, .fm_extent_count = 1}};
    static const unsigned nowhere = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DATA_INLINE;
    struct stat st;

    if (ioctl(fd, FS_IOC_FIEMAP, &ask) == 0 && ask.map.fm_mapped_extents &&
        !(ask.extent.fe_flags & nowhere))
        return ask.extent.fe_physical + (offset - ask.extent.fe_logical);
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}
