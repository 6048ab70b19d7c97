#include "shim/admin/install/toml_edit.h"

#include "shim/admin/engine/toml.h"

#include <ctype.h>
#include <string.h>

static const char block_begin[] = "# >>> flatbed install: this block is its own >>>\n";
static const char block_end[] = "# <<< flatbed install <<<\n";
static const char mark_line[] = " # flatbed install\n";
static const char mark_was[] = "#flatbed was# ";

static bool line_is(const char *line, size_t len, const char *with)
{
    return len == strlen(with) && memcmp(line, with, len) == 0;
}

static bool ends_with(const char *line, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len >= n && memcmp(line + len - n, with, n) == 0;
}

/* Copies the text without our edits. */
static int strip(const struct buf *in, struct buf *out, struct err *err)
{
    bool inside = false;

    for (size_t at = 0, len; at < in->len; at += len) {
        const char *line = in->data + at, *newline = memchr(line, '\n', in->len - at);
        len = newline ? (size_t)(newline - line) + 1 : in->len - at;
        if (!inside && line_is(line, len, block_begin))
            inside = true;
        else if (inside)
            inside = !line_is(line, len, block_end);
        else if (len >= sizeof(mark_was) - 1 && memcmp(line, mark_was, sizeof(mark_was) - 1) == 0)
            buf_append(out, line + sizeof(mark_was) - 1, len - (sizeof(mark_was) - 1));
        else if (!ends_with(line, len, mark_line))
            buf_append(out, line, len);
    }
    if (inside)
        return err_set(err, ERR_FORMAT, "the block of flatbed install has no end; take it out");
    return buf_check(out, err);
}

/* ---- adding ---- */

static void put_name(struct buf *out, const char *name)
{
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    buf_printf(out, name[plain] || !plain ? "\"%s\"" : "%s", name);
}

static void put_header(struct buf *out, const struct toml_set *set)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < set->depth; i++) {
        buf_puts(out, i ? "." : "");
        put_name(out, set->table[i]);
    }
    buf_puts(out, "]\n");
}

/* Fails if a header for this table cannot be added. */
static int check_new(const struct toml *toml, const struct toml_set *set, struct err *err)
{
    for (size_t i = 0; i < toml->count; i++) {
        const struct toml_item *item = &toml->items[i];
        bool within = toml_starts_with(item, set->table, set->depth);
        /* a value on the way, or a part of the table written with dotted keys */
        bool in_the_way = item->kind != TOML_TABLE && item->depth <= set->depth &&
                          toml_starts_with(item, set->table, item->depth);
        if (within && item->kind == TOML_KEY && item->table_depth < set->depth)
            in_the_way = true;
        if (in_the_way || (set->ours && within))
            return err_set(err, ERR_FORMAT, "line %zu says something of '%s' already",
                           toml_line(toml, item->start), set->table[set->depth - 1]);
    }
    return 0;
}

static bool same_table(const struct toml_set *a, const struct toml_set *b)
{
    if (a->depth != b->depth)
        return false;
    for (size_t i = 0; i < a->depth; i++)
        if (strcmp(a->table[i], b->table[i]) != 0)
            return false;
    return true;
}

static void put_line(struct buf *out, const char *text, const struct toml_item *like,
                     const struct toml_set *set)
{
    size_t indent = like ? strspn(text + like->start, " \t") : 0;

    buf_append(out, like ? text + like->start : "", indent);
    put_name(out, set->key);
    buf_printf(out, " = %s%s", set->value, mark_line);
}

/* Appends an item with each line commented out. */
static void put_was(struct buf *out, const char *text, const struct toml_item *item)
{
    for (size_t at = item->start; at < item->end;) {
        const char *newline = memchr(text + at, '\n', item->end - at);
        size_t len = newline ? (size_t)(newline - text) + 1 - at : item->end - at;
        buf_puts(out, mark_was);
        buf_append(out, text + at, len);
        if (!newline)
            buf_putc(out, '\n');
        at += len;
    }
}

static const struct toml_item *find_key(const struct toml *toml, const struct toml_set *set)
{
    for (size_t i = 0; i < toml->count; i++) {
        const struct toml_item *item = &toml->items[i];
        if (item->depth == set->depth + 1 && toml_starts_with(item, set->table, set->depth) &&
            strcmp(item->path[set->depth], set->key) == 0)
            return item;
    }
    return NULL;
}

/* Adds a key to an existing table. */
static int put_into(struct buf *text, const struct toml *toml, const struct toml_item *table,
                    const struct toml_set *set, struct err *err)
{
    const struct toml_item *key = find_key(toml, set);
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (key && key->kind != TOML_KEY)
        return err_set(err, ERR_FORMAT, "line %zu: '%s' is a table", toml_line(toml, key->start),
                       set->key);
    if (key && key->value_end - key->value_start == strlen(set->value) &&
        memcmp(text->data + key->value_start, set->value, strlen(set->value)) == 0)
        return 0;
    buf_append(&out, text->data, key ? key->start : table->end);
    if (key)
        put_was(&out, text->data, key);
    if (out.len && out.data[out.len - 1] != '\n')
        buf_putc(&out, '\n');
    put_line(&out, text->data, key ? key : table, set);
    size_t rest = key ? key->end : table->end;
    buf_append(&out, text->data + rest, text->len - rest);
    if (buf_check(&out, err) < 0)
        return -1;
    buf_free(text);
    *text = out;
    out = (struct buf)BUF_INIT;
    return 0;
}

/* Adds one key, to the text or, if its table does not exist, to the block. */
static int put(struct buf *text, const struct toml_set *set, bool header, struct buf *block,
               struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = 64u * 1024 * 1024};
    struct toml toml;

    if (!buf_reserve(text, 0)) /* never NULL, also when it is empty */
        return err_nomem(err);
    if (toml_scan(text->data, text->len, &arena, &toml, err) < 0)
        return -1;
    const struct toml_item *table = set->ours ? NULL : toml_find(&toml, set->table, set->depth);
    if (table && table->kind == TOML_TABLE)
        return put_into(text, &toml, table, set, err);
    if (check_new(&toml, set, err) < 0)
        return -1;
    if (header && set->depth)
        put_header(block, set);
    put_name(block, set->key);
    buf_printf(block, " = %s\n", set->value);
    return 0;
}

int toml_edit(const struct buf *in, const struct toml_set *sets, size_t count, struct buf *out,
              struct err *err)
{
    _cleanup_buf_ struct buf block = BUF_INIT;

    if (strip(in, out, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (put(out, &sets[i], i == 0 || !same_table(&sets[i - 1], &sets[i]), &block, err) < 0)
            return -1;
    if (block.len) {
        if (out->len && out->data[out->len - 1] != '\n')
            buf_putc(out, '\n');
        buf_puts(out, block_begin);
        buf_append(out, block.data, block.len);
        buf_puts(out, block_end);
    }
    return block.failed ? err_nomem(err) : buf_check(out, err);
}
