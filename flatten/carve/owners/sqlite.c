#include "flatten/carve/owners/sqlite.h"

#include <string.h>

enum {
    FILE_HEADER = 100, /* bytes before the b-tree's header on page 1 */
    PAGE_SIZE_AT = 16,
    RESERVED_AT = 20,
    LEAST_USABLE = 480,
    SCHEMA_PAGE = 1,
    PAGE_INTERIOR = 5,
    PAGE_LEAF = 13,
    VARINT_MOST = 9,
};

static uint32_t read_u16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t read_u32(const uint8_t *at)
{
    return read_u16(at) << 16 | read_u16(at + 2);
}

/* Reads a number of 1 to 9 bytes and moves *at behind it. Returns false if it does not end. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < VARINT_MOST && *at < end; i++) {
        uint8_t byte = *(*at)++;
        if (i == VARINT_MOST - 1) {
            *value = *value << 8 | byte;
            return true;
        }
        *value = *value << 7 | (byte & 0x7f);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Returns 1, 0 if the file or what may be read of it ends before, or -1. */
static int read_bytes(struct sqlite *s, uint64_t offset, void *data, size_t len, struct err *err)
{
    struct finder *f = s->finder;
    uint64_t end = (uint64_t)s->page_size * s->page_count;

    if (offset + len > end)
        return 0;
    if (len > f->left) {
        f->out->cut++;
        f->left = 0;
        return 0;
    }
    f->left -= len;
    return f->source->read(f->source->ctx, s->node, offset, data, len, err) < 0 ? -1 : 1;
}

static uint64_t page_offset(const struct sqlite *s, uint32_t page)
{
    return (uint64_t)(page - 1) * s->page_size;
}

int sqlite_open(struct sqlite *s, struct finder *f, uint32_t node, struct err *err)
{
    static const char magic[] = "SQLite format 3";
    int64_t size = node == TREE_NONE ? -1 : f->source->size(f->source->ctx, node);
    uint8_t header[FILE_HEADER];

    *s = (struct sqlite){.finder = f, .node = node, .page_size = FILE_HEADER, .page_count = 1};
    if (size < FILE_HEADER)
        return 0;
    int rc = read_bytes(s, 0, header, sizeof(header), err);
    if (rc <= 0)
        return rc;
    uint32_t page_size = read_u16(header + PAGE_SIZE_AT);
    s->page_size = page_size == 1 ? 1 << 16 : page_size;
    if (memcmp(header, magic, sizeof(magic)) != 0 || s->page_size < 512 ||
        (s->page_size & (s->page_size - 1)) || s->page_size - header[RESERVED_AT] < LEAST_USABLE)
        return 0;
    s->usable = s->page_size - header[RESERVED_AT];
    uint64_t pages = (uint64_t)size / s->page_size;
    s->page_count = pages > UINT32_MAX ? UINT32_MAX : (uint32_t)pages;
    s->page = malloc(s->page_size);
    return s->page ? 1 : err_nomem(err);
}

void sqlite_close(struct sqlite *s)
{
    free(s->page);
    free(s->row);
    *s = (struct sqlite){0};
}

static void begin_table(struct sqlite *s, uint32_t root)
{
    s->path[0].page = root;
    s->path[0].cell = 0;
    s->depth = 1;
    s->visits = s->page_count;
}

/* Returns how many bytes of a row lie in its leaf, as "B-tree Pages" says. */
static size_t local_part(const struct sqlite *s, size_t len)
{
    size_t most = s->usable - 35, least = (s->usable - 12) * 32 / 255 - 23;
    size_t part = least + (len - least) % (s->usable - 4);

    if (len <= most)
        return len;
    return part <= most ? part : least;
}

/* Reads the rest of the row, whose first `have` bytes are there, from a chain of pages. */
static int read_overflow(struct sqlite *s, size_t have, uint32_t page, struct err *err)
{
    while (have < s->row_len) {
        uint8_t next[4];
        size_t len = s->row_len - have;
        if (len > s->usable - sizeof(next))
            len = s->usable - sizeof(next);
        if (page == 0 || page > s->page_count)
            return 0;
        int rc = read_bytes(s, page_offset(s, page), next, sizeof(next), err);
        if (rc > 0)
            rc = read_bytes(s, page_offset(s, page) + sizeof(next), s->row + have, len, err);
        if (rc <= 0)
            return rc;
        page = read_u32(next);
        have += len;
    }
    return 1;
}

static int reserve_row(struct sqlite *s, size_t len, struct err *err)
{
    if (len > s->row_cap) {
        uint8_t *row = realloc(s->row, len);
        if (!row)
            return err_nomem(err);
        s->row = row;
        s->row_cap = len;
    }
    s->row_len = len;
    return 0;
}

/* Reads the row of a cell of the loaded page. Returns 1, 0 if it is broken or too long, or -1. */
static int read_row(struct sqlite *s, const uint8_t *cell, struct err *err)
{
    const uint8_t *end = s->page + s->usable;
    uint64_t len, rowid;

    if (!read_varint(&cell, end, &len) || !read_varint(&cell, end, &rowid))
        return 0;
    if (len > SQLITE_ROW_MOST) {
        s->finder->out->cut++;
        return 0;
    }
    size_t local = local_part(s, len);
    size_t needed = local + (local < len ? sizeof(uint32_t) : 0);
    if ((size_t)(end - cell) < needed || local > s->finder->left)
        return 0;
    s->finder->left -= local; /* cells may overlap: a page must not give more rows than fit */
    if (reserve_row(s, len, err) < 0)
        return -1;
    if (local > 0)
        memcpy(s->row, cell, local);
    return local < len ? read_overflow(s, local, read_u32(cell + local), err) : 1;
}

static int load_page(struct sqlite *s, uint32_t page, struct err *err)
{
    if (page == 0 || page > s->page_count)
        return 0;
    if (s->loaded == page)
        return 1;
    s->loaded = 0;
    int rc = read_bytes(s, page_offset(s, page), s->page, s->page_size, err);
    if (rc > 0)
        s->loaded = page;
    return rc;
}

/* Returns the cell with that number of the loaded page; NULL if it is not on the page. */
static const uint8_t *find_cell(const struct sqlite *s, const uint8_t *pointers, uint32_t cell,
                                size_t least)
{
    size_t pointer = (size_t)(pointers - s->page) + 2 * (size_t)cell;

    if (pointer + 2 > s->usable)
        return NULL;
    uint32_t at = read_u16(s->page + pointer);
    return at + least <= s->usable ? s->page + at : NULL;
}

/* Goes to the next child of an interior page, or back to its parent. */
static void go_on(struct sqlite *s, const uint8_t *header, uint32_t cells)
{
    uint32_t cell = s->path[s->depth - 1].cell++;
    const uint8_t *child = cell < cells ? find_cell(s, header + 12, cell, 4) : header + 8;

    if (cell > cells) {
        s->depth--;
    } else if (child && s->depth < SQLITE_DEPTH && s->visits > 0) {
        s->visits--;
        s->path[s->depth].page = read_u32(child);
        s->path[s->depth].cell = 0;
        s->depth++;
    }
}

/* Returns the number of cells of a page, at most as many as it has room for pointers. */
static uint32_t count_cells(const struct sqlite *s, const uint8_t *header)
{
    uint32_t cells = read_u16(header + 3);

    return cells < s->usable / 2 ? cells : s->usable / 2;
}

int sqlite_next(struct sqlite *s, struct err *err)
{
    while (s->depth > 0) {
        uint32_t page = s->path[s->depth - 1].page;
        int rc = load_page(s, page, err);
        if (rc < 0)
            return -1;
        const uint8_t *header = s->page + (page == SCHEMA_PAGE ? FILE_HEADER : 0);
        uint32_t cells = rc > 0 ? count_cells(s, header) : 0;
        if (rc > 0 && *header == PAGE_INTERIOR) {
            go_on(s, header, cells);
            continue;
        }
        uint32_t number = s->path[s->depth - 1].cell++;
        if (rc == 0 || *header != PAGE_LEAF || number >= cells) {
            s->depth--;
            continue;
        }
        const uint8_t *cell = find_cell(s, header + 8, number, 1);
        if (cell && (rc = read_row(s, cell, err)) != 0)
            return rc;
    }
    return 0;
}

static size_t value_size(uint64_t type)
{
    static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

    return type < sizeof(sizes) ? sizes[type] : (size_t)((type - 12) / 2);
}

bool sqlite_column(const struct sqlite *s, size_t column, struct sqlite_value *value)
{
    uint64_t header, type = 0;

    if (s->row_len == 0)
        return false;
    const uint8_t *at = s->row, *end = s->row + s->row_len;
    if (!read_varint(&at, end, &header) || header > s->row_len)
        return false;
    const uint8_t *types_end = s->row + header, *data = types_end;
    for (size_t i = 0; i <= column; i++) {
        data += i > 0 ? value_size(type) : 0;
        if (!read_varint(&at, types_end, &type) || value_size(type) > (size_t)(end - data))
            return false;
    }
    *value = (struct sqlite_value){.len = value_size(type)};
    if (type >= 12)
        value->data = data;
    else if (type >= 1 && type <= 6)
        for (size_t i = 0; i < value->len; i++)
            value->number = value->number << 8 | data[i];
    return true;
}

int sqlite_table(struct sqlite *s, const char *name, struct err *err)
{
    struct sqlite_value type, table, root;
    int rc;

    begin_table(s, SCHEMA_PAGE);
    while ((rc = sqlite_next(s, err)) > 0) {
        if (!sqlite_column(s, 0, &type) || !sqlite_column(s, 1, &table) ||
            !sqlite_column(s, 3, &root) || !type.data || !table.data)
            continue;
        if (type.len != 5 || memcmp(type.data, "table", 5) != 0 || table.len != strlen(name) ||
            memcmp(table.data, name, table.len) != 0)
            continue;
        if (root.number == 0 || root.number > s->page_count)
            return 0;
        begin_table(s, (uint32_t)root.number);
        return 1;
    }
    return rc;
}
