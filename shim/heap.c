/*
 * malloc and its kin for flatbed-runtime where it is linked with musl, whose own asks the kernel
 * for a few pages at a time and gives them back at once, while each fresh page is a trap of 1 µs or
 * more. This process lives for a millisecond, has one thread, and all of it goes when the other is
 * executed.
 *
 * Blocks are cut off a region. They have few sizes, four to a doubling: one that is freed waits in
 * the list of its size. The last one that was cut off is taken back instead, and grows where it is.
 * Large ones are mappings of their own. So memory is bounded by what is in use, as with any malloc.
 *
 * A mark in each block's header is looked at before the block is freed or grown: what was not given
 * out, has been freed already or was run over ends the process.
 */
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STEP = 16, /* alignment, and the difference between the smallest sizes */
    SIZES = 48,
    LARGEST = 128 * 1024, /* the last of them */
    REGION = 512 * 1024,
    PAGE = 4096,
};

enum mark { USED = 0x5ca1ab1e, MAPPED = 0x0b57ac1e, FREED = 0x0ddba115 };

struct block {
    size_t size; /* of data */
    uint32_t mark;
    uint32_t list; /* its number, unless MAPPED */
    union {
        struct block *next;
        alignas(STEP) unsigned char data[STEP];
    };
};

enum { HEADER = offsetof(struct block, data) };

static struct {
    unsigned char *top, *end; /* of the region, what is not cut off yet */
    struct block *last;       /* the one that ends at top, if it is known */
    struct block *freed[SIZES];
} heap;

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* The list for a size up to LARGEST, which is rounded up to 16, 32 … 128, 160, 192, 224, 256, 320 …
 */
static uint32_t list_for(size_t *size)
{
    size_t last = *size > 0 ? (*size - 1) / STEP : 0;
    unsigned shift = last < 8 ? 0 : (unsigned)(61 - __builtin_clzl(last)); /* leaves three bits */

    *size = (((last >> shift) + 1) << shift) * STEP;
    return 4 * shift + (uint32_t)(last >> shift);
}

static int new_region(void)
{
    void *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (region == MAP_FAILED)
        return -1;
    heap.top = region;
    heap.end = heap.top + REGION;
    return 0;
}

static struct block *cut(size_t size, uint32_t list)
{
    if ((size_t)(heap.end - heap.top) < HEADER + size && new_region() < 0)
        return no_memory();
    struct block *block = (struct block *)heap.top;
    heap.top += HEADER + size;
    block->size = size;
    block->list = list;
    heap.last = block;
    return block;
}

static size_t whole_pages(size_t size)
{
    return (HEADER + size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static struct block *map(size_t size)
{
    if (size > PTRDIFF_MAX - HEADER - PAGE)
        return no_memory();
    size_t whole = whole_pages(size);
    struct block *block =
        mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return no_memory();
    block->size = whole - HEADER;
    block->mark = MAPPED;
    return block;
}

static struct block *allocate(size_t size)
{
    if (size > LARGEST)
        return map(size);
    uint32_t list = list_for(&size);
    struct block *block = heap.freed[list];
    if (block) {
        if (block->mark != FREED)
            abort();
        heap.freed[list] = block->next;
    } else if (!(block = cut(size, list))) {
        return NULL;
    }
    block->mark = USED;
    return block;
}

static struct block *block_of(void *data)
{
    struct block *block = (struct block *)((unsigned char *)data - HEADER);

    if (block->mark != USED && block->mark != MAPPED)
        abort();
    return block;
}

static void release(struct block *block)
{
    if (block->mark == MAPPED) {
        munmap(block, HEADER + block->size);
        return;
    }
    block->mark = FREED;
    if (block == heap.last) {
        heap.top = (unsigned char *)block;
        heap.last = NULL;
    } else {
        block->next = heap.freed[block->list];
        heap.freed[block->list] = block;
    }
}

/* The last block, made larger where it is. */
static int extend(struct block *block, size_t size)
{
    if (block != heap.last || size > LARGEST)
        return -1;
    uint32_t list = list_for(&size);
    if ((size_t)(heap.end - heap.top) < size - block->size)
        return -1;
    heap.top += size - block->size;
    block->size = size;
    block->list = list;
    return 0;
}

static struct block *remap(struct block *block, size_t size)
{
    if (size > PTRDIFF_MAX - HEADER - PAGE)
        return no_memory();
    size_t whole = whole_pages(size);
    struct block *moved = mremap(block, HEADER + block->size, whole, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return no_memory();
    moved->size = whole - HEADER;
    return moved;
}

static struct block *move(struct block *block, size_t size)
{
    struct block *moved = allocate(size);

    if (moved) {
        memcpy(moved->data, block->data, block->size);
        release(block);
    }
    return moved;
}

void *malloc(size_t size)
{
    struct block *block = allocate(size);

    return block ? block->data : NULL;
}

void *calloc(size_t nmemb, size_t size)
{
    size_t whole;

    if (__builtin_mul_overflow(nmemb, size, &whole))
        return no_memory();
    struct block *block = allocate(whole);
    if (block && block->mark != MAPPED) /* which is zero */
        memset(block->data, 0, whole);
    return block ? block->data : NULL;
}

void *realloc(void *ptr, size_t size)
{
    if (!ptr)
        return malloc(size);
    struct block *block = block_of(ptr);
    if (size <= block->size || extend(block, size) == 0)
        return ptr;
    block = block->mark == MAPPED ? remap(block, size) : move(block, size);
    return block ? block->data : NULL;
}

void free(void *ptr)
{
    if (ptr)
        release(block_of(ptr));
}
