#include "flatten/layer/tar/tar_header.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCK = 512, MODE_AT = 100, MODE_LEN = 8, SIZE_AT = 124, SIZE_LEN = 12, TYPE_AT = 156 };

static const char schily[] = "SCHILY.xattr.";
static const char libarchive[] = "LIBARCHIVE.xattr.";
static const char acl[] = "SCHILY.acl.";
static const char label[] = "RHT.security.selinux";

/* A record of a PAX header: "LEN KEY=VALUE\n". */
struct record {
    const char *key, *value;
    size_t key_len, value_len;
};

/* Reads octal digits, or base 256 where the first byte's high bit is set; false if too large. */
static bool parse_number(const unsigned char *field, size_t len, uint64_t *out)
{
    uint64_t value = 0;
    size_t i = 0;

    if (field[0] & 0x80) {
        for (i = 1; i < len; i++) {
            if (value >> 56)
                return false;
            value = value << 8 | field[i];
        }
        *out = value;
        return true;
    }
    while (i < len && field[i] == ' ')
        i++;
    for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
        value = value << 3 | (uint64_t)(field[i] - '0');
    *out = value;
    return true;
}

/* Reads the next record and moves behind it. False at the end, and for a malformed record. */
static bool next_record(const char **text, size_t *left, struct record *out)
{
    uint64_t len = 0;
    size_t i = 0;

    while (i < *left && i < 10 && (*text)[i] >= '0' && (*text)[i] <= '9')
        len = len * 10 + (uint64_t)((*text)[i++] - '0');
    if (i == 0 || i >= *left || (*text)[i] != ' ' || len > *left || len < i + 3)
        return false;
    out->key = *text + i + 1;
    const char *equals = memchr(out->key, '=', (size_t)len - i - 2);
    if (!equals || (*text)[len - 1] != '\n')
        return false;
    out->key_len = (size_t)(equals - out->key);
    out->value = equals + 1;
    out->value_len = (size_t)(*text + len - 1 - out->value);
    *text += len;
    *left -= (size_t)len;
    return true;
}

static bool key_is(const struct record *r, const char *key)
{
    return r->key_len == strlen(key) && memcmp(r->key, key, r->key_len) == 0;
}

static bool key_starts(const struct record *r, const char *prefix)
{
    size_t len = strlen(prefix);

    return r->key_len > len && memcmp(r->key, prefix, len) == 0;
}

/* Reads the digits up to the first other character. */
static uint64_t parse_decimal(const char *text, size_t len)
{
    uint64_t value = 0;

    for (size_t i = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (INT64_MAX - digit) / 10)
            return INT64_MAX;
        value = value * 10 + digit;
    }
    return value;
}

/* Facts of an entry's PAX records that libarchive does not show. */
struct pax_notes {
    bool foreign; /* there are xattrs of which engines do not know the form */
    bool before;  /* mtime is before 1970 */
    bool sized;   /* there is a size, which is not that of the header: */
    uint64_t size;
};

static int check_record(const struct record *r, struct pax_notes *notes, struct err *err)
{
    if ((key_is(r, "path") || key_is(r, "linkpath")) && memchr(r->value, '\0', r->value_len))
        return err_set(err, ERR_FORMAT, "a PAX %.*s contains a NUL byte", (int)r->key_len, r->key);
    notes->foreign = notes->foreign || key_starts(r, libarchive) || key_is(r, label);
    if (key_is(r, "mtime"))
        notes->before = r->value_len > 0 && r->value[0] == '-';
    if (key_is(r, "size")) {
        notes->sized = true;
        notes->size = parse_decimal(r->value, r->value_len);
    }
    return 0;
}

static int add_xattr(struct archive_entry *header, const struct record *r, struct err *err)
{
    size_t prefix = sizeof(schily) - 1;
    _cleanup_free_ char *name = strndup(r->key + prefix, r->key_len - prefix);

    if (!name)
        return err_nomem(err);
    archive_entry_xattr_add_entry(header, name, r->value, r->value_len);
    return 0;
}

/* Replaces all xattrs by those of the records that engines read. */
static int replace_xattrs(const char *text, size_t left, struct archive_entry *header,
                          struct err *err)
{
    struct record r;

    archive_entry_xattr_clear(header);
    while (next_record(&text, &left, &r))
        if (key_starts(&r, schily) && add_xattr(header, &r, err) < 0)
            return -1;
    return 0;
}

/* libarchive reads -1.5 as -1 and 0.5, and loses the sign of -0.5: here it is -2 and 0.5. */
static void correct_mtime(struct archive_entry *header)
{
    long fraction = archive_entry_mtime_nsec(header);

    if (fraction > 0)
        archive_entry_set_mtime(header, archive_entry_mtime(header) - 1, 1000000000 - fraction);
}

/*
 * libarchive takes a symbolic link's target from its record only where the header has one as well,
 * and Go's archive/tar leaves characters that are not ASCII out of the header.
 */
static int correct_target(const struct record *r, struct archive_entry *header, struct err *err)
{
    const char *there = archive_entry_symlink(header);

    if (archive_entry_filetype(header) != AE_IFLNK || archive_entry_hardlink(header) ||
        (there && *there))
        return 0;
    _cleanup_free_ char *target = strndup(r->value, r->value_len);
    if (!target)
        return err_nomem(err);
    archive_entry_copy_symlink(header, target);
    return 0;
}

static int correct_by_pax(const char *text, size_t len, struct archive_entry *header,
                          struct tar_facts *facts, struct err *err)
{
    const char *at = text;
    size_t left = len;
    struct pax_notes notes = {0};
    struct record r;

    while (next_record(&at, &left, &r)) {
        if (check_record(&r, &notes, err) < 0 ||
            (key_is(&r, "linkpath") && correct_target(&r, header, err) < 0))
            return -1;
        facts->acl = facts->acl || key_starts(&r, acl);
    }
    if (notes.sized)
        facts->stored = notes.size;
    if (notes.before)
        correct_mtime(header);
    return notes.foreign ? replace_xattrs(text, len, header, err) : 0;
}

/* libarchive lets SCHILY.acl records change the mode, and Go's archive/tar does not know them. */
static void correct_mode(const unsigned char *block, struct archive_entry *header)
{
    uint64_t mode = 0;

    (void)parse_number(block + MODE_AT, MODE_LEN, &mode); /* eight bytes are never too large */
    archive_entry_set_mode(header, archive_entry_filetype(header) | (mode_t)(mode & 07777));
}

static int correct_by_type(char type, struct archive_entry *header, struct err *err)
{
    const char *name = archive_entry_pathname(header);
    size_t len = name ? strlen(name) : 0;

    if (!memchr("0\0"
                "123456S",
                type, 9))
        return err_set(err, ERR_FORMAT, "an entry of unknown type '%c'", type);
    if (type == '0' && len > 0 && name[len - 1] == '/')
        archive_entry_set_filetype(header, AE_IFREG);
    return 0;
}

/* Reads an entry's own header, which the records of `pax`, or NULL, go before. */
static int correct_own(const unsigned char *block, const char *pax, size_t pax_len,
                       struct archive_entry *header, struct tar_facts *facts, struct err *err)
{
    /* libarchive reads a time before the range so, and reads it otherwise from a record. */
    if (archive_entry_mtime(header) == INT64_MIN)
        return err_set(err, ERR_FORMAT, "a time that is out of range");
    if (!parse_number(block + SIZE_AT, SIZE_LEN, &facts->stored))
        facts->stored = INT64_MAX; /* as libarchive does */
    if (correct_by_type((char)block[TYPE_AT], header, err) < 0)
        return -1;
    correct_mode(block, header);
    return pax ? correct_by_pax(pax, pax_len, header, facts, err) : 0;
}

int tar_header_correct(const unsigned char *bytes, size_t len, struct archive_entry *header,
                       struct tar_facts *facts, struct err *err)
{
    const char *pax = NULL;
    size_t at = 0, pax_len = 0;

    *facts = (struct tar_facts){0};
    while (len - at >= BLOCK) {
        const unsigned char *block = bytes + at;
        char type = (char)block[TYPE_AT];
        uint64_t size;
        if (!memchr("xgLK", type, 4)) {
            if (correct_own(block, pax, pax_len, header, facts, err) < 0)
                return -1;
            /* More of the map of an old sparse file is not counted as content. */
            size_t map = type == 'S' ? 0 : len - at - BLOCK;
            facts->stored -= map < facts->stored ? map : facts->stored;
            return 0;
        }
        if (!parse_number(block + SIZE_AT, SIZE_LEN, &size) || size > len - at - BLOCK)
            return err_set(err, ERR_FORMAT, "an extended header beyond its entry");
        if (type == 'x') {
            pax = (const char *)block + BLOCK;
            pax_len = (size_t)size;
        }
        at += BLOCK + ((size_t)size + BLOCK - 1) / BLOCK * BLOCK;
        if (at > len)
            break;
    }
    return err_set(err, ERR_FORMAT, "an entry without a header of its own");
}
