/*
 * The rows of a table of an SQLite database, in the order of its b-tree (sqlite.org/fileformat2).
 * No index, journal or write-ahead log is read. Rows of a broken file are left out.
 */
#ifndef FLATTEN_OWNERS_SQLITE_H
#define FLATTEN_OWNERS_SQLITE_H

#include "flatten/carve/owners/finder.h"

enum { SQLITE_DEPTH = 20, SQLITE_ROW_MOST = 8 << 20 };

struct sqlite {
    struct finder *finder;
    uint32_t node;
    uint32_t page_size, usable; /* bytes; those after `usable` are reserved */
    uint32_t page_count;
    uint8_t *page; /* the page `loaded`; 0: none */
    uint32_t loaded;
    struct {
        uint32_t page, cell; /* the next cell of that page */
    } path[SQLITE_DEPTH];
    size_t depth;
    uint32_t visits; /* how many more pages the tree may have: each page is in it once */
    uint8_t *row;    /* the row that sqlite_next read */
    size_t row_len, row_cap;
};

struct sqlite_value {
    const uint8_t *data; /* of a text or blob; NULL for other types */
    size_t len;
    uint64_t number; /* of an integer */
};

/* Returns 1 if the file at the node is a database, 0 if not, or -1. sqlite_close in any case. */
int sqlite_open(struct sqlite *s, struct finder *f, uint32_t node, struct err *err) must_check;
/* Frees the buffers. */
void sqlite_close(struct sqlite *s);
#define _cleanup_sqlite_ _cleanup_(sqlite_close)

/* Starts to read the table with that name. Returns 1, 0 if there is none, or -1. */
int sqlite_table(struct sqlite *s, const char *name, struct err *err) must_check;
/* Reads the next row. Returns 1, 0 at the end, or -1. */
int sqlite_next(struct sqlite *s, struct err *err) must_check;
/* Sets *value to a column of the row, from 0; valid until sqlite_next. Returns false without one.
 */
bool sqlite_column(const struct sqlite *s, size_t column, struct sqlite_value *value);

#endif
