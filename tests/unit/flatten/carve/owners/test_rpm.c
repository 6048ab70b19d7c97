/*
 * rpm's database, from a small one in SQLite's format that is built here: pages of 512 bytes, the
 * schema on page 1, an interior page, leaves, and chains of overflow pages.
 */
#include "owners_unit.h"

enum { PAGE = 512, PAGES = 64 };

struct database {
    uint8_t pages[PAGES * PAGE];
    uint32_t used; /* pages */
};

static void put_u16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    put_u16(at, value >> 16);
    put_u16(at + 2, value);
}

static uint8_t *page_at(struct database *d, uint32_t page)
{
    return d->pages + (page - 1) * PAGE;
}

static size_t put_varint(uint8_t *at, uint32_t value)
{
    size_t len = value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : 3;

    for (size_t i = 0; i < len; i++)
        at[i] = (uint8_t)(value >> 7 * (len - 1 - i) | (i + 1 < len ? 0x80 : 0)) &
                (i + 1 < len ? 0xff : 0x7f);
    return len;
}

/* Adds a cell to a leaf: the row's length, a number, and the row, the end of it in other pages. */
static void add_row(struct database *d, uint32_t page, const uint8_t *row, size_t len)
{
    uint8_t *header = page_at(d, page) + (page == 1 ? 100 : 0), cell[PAGE];
    uint32_t count = (uint32_t)header[3] << 8 | header[4];
    uint32_t end = count ? (uint32_t)header[5] << 8 | header[6] : PAGE;
    size_t used = put_varint(cell, (uint32_t)len), local = len;

    if (len > PAGE - 35) {
        size_t least = (PAGE - 12) * 32 / 255 - 23;
        local = least + (len - least) % (PAGE - 4);
        local = local > PAGE - 35 ? least : local;
    }
    cell[used++] = (uint8_t)(count + 1);
    memcpy(cell + used, row, local);
    used += local;
    if (local < len) {
        put_u32(cell + used, d->used + 1);
        used += 4;
    }
    for (; local < len; local += PAGE - 4) {
        uint8_t *overflow = page_at(d, ++d->used);
        size_t left = len - local;
        assert_true(d->used <= PAGES);
        put_u32(overflow, left > PAGE - 4 ? d->used + 1 : 0);
        memcpy(overflow + 4, row + local, left > PAGE - 4 ? PAGE - 4 : left);
    }
    end -= (uint32_t)used;
    memcpy(page_at(d, page) + end, cell, used);
    put_u16(header + 8 + 2 * count, end);
    put_u16(header + 3, count + 1);
    put_u16(header + 5, end);
}

static void add_schema(struct database *d, const char *table, uint8_t root)
{
    uint8_t row[128] = {6, 23, 0, 0, 1, 13};
    size_t name = strlen(table);

    row[2] = row[3] = (uint8_t)(13 + 2 * name);
    memcpy(row + 6, "table", 5);
    memcpy(row + 11, table, name);
    memcpy(row + 11 + name, table, name);
    row[11 + 2 * name] = root;
    add_row(d, 1, row, 12 + 2 * name);
}

static void begin(struct database *d)
{
    memset(d, 0, sizeof(*d));
    memcpy(d->pages, "SQLite format 3", 16);
    put_u16(d->pages + 16, PAGE);
    d->pages[100] = 13;
    add_schema(d, "Name", 9);
    add_schema(d, "Packages", 2);
    page_at(d, 2)[0] = 5; /* one cell with page 3, and page 4 on the right */
    put_u16(page_at(d, 2) + 3, 1);
    put_u32(page_at(d, 2) + 8, 4);
    put_u16(page_at(d, 2) + 12, PAGE - 8);
    put_u32(page_at(d, 2) + PAGE - 8, 3);
    page_at(d, 3)[0] = page_at(d, 4)[0] = 13;
    d->used = 4;
}

struct header {
    uint8_t entries[256], data[8192];
    size_t entry_len, data_len;
};

static void add_tag(struct header *h, uint32_t tag, uint32_t type, uint32_t count, const void *data,
                    size_t len)
{
    uint8_t *entry = h->entries + h->entry_len;

    put_u32(entry, tag);
    put_u32(entry + 4, type);
    put_u32(entry + 8, (uint32_t)h->data_len);
    put_u32(entry + 12, count);
    memcpy(h->data + h->data_len, data, len);
    h->entry_len += 16;
    h->data_len += len;
}

#define ADD_TEXTS(h, tag, count, texts) add_tag(h, tag, 8, count, texts, sizeof(texts))

static void add_package(struct database *d, uint32_t page, const struct header *h)
{
    uint8_t row[9000] = {0};
    size_t blob = 8 + h->entry_len + h->data_len;
    size_t head = 2 + put_varint(row + 2, (uint32_t)(12 + 2 * blob));

    row[0] = (uint8_t)head;
    put_u32(row + head, (uint32_t)(h->entry_len / 16));
    put_u32(row + head + 4, (uint32_t)h->data_len);
    memcpy(row + head + 8, h->entries, h->entry_len);
    memcpy(row + head + 8 + h->entry_len, h->data, h->data_len);
    add_row(d, page, row, head + blob);
}

/* Adds "bash", in two directories, whose header needs overflow pages. */
static void add_bash(struct database *d)
{
    static struct header h;
    static const uint8_t indexes[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1};
    static const char filler[1500];

    h = (struct header){0};
    ADD_TEXTS(&h, 1000, 1, "bash");
    ADD_TEXTS(&h, 1001, 1, "5.1");
    ADD_TEXTS(&h, 1002, 1, "2.el9");
    ADD_TEXTS(&h, 1004, 1, filler);
    add_tag(&h, 1116, 4, 4, indexes, sizeof(indexes));
    ADD_TEXTS(&h, 1117, 4, "bash\0readme\0lost\0more");
    ADD_TEXTS(&h, 1118, 2, "/bin/\0/usr/share/doc/bash/");
    add_package(d, 3, &h);
}

static void add_setup(struct database *d)
{
    static struct header h;
    static const uint8_t indexes[] = {0, 0, 0, 0, 0, 0, 0, 0};

    h = (struct header){0};
    ADD_TEXTS(&h, 1000, 1, "setup");
    add_tag(&h, 1116, 4, 2, indexes, sizeof(indexes));
    ADD_TEXTS(&h, 1117, 2, "motd\0passwd");
    ADD_TEXTS(&h, 1118, 1, "/etc/");
    add_package(d, 4, &h);
}

static void add_image(struct owner_image *image, const struct database *d)
{
    static const char path[] = "var/lib/rpm/rpmdb.sqlite";

    owner_image_symlink(image, "bin", "usr/bin");
    owner_image_files(image, "usr/bin/bash", "usr/share/doc/bash/readme", "etc/motd", "etc/passwd",
                      "usr/share/doc/bash/more", "usr/bin/lost");
    owner_image_add(image, path, sizeof(path) - 1,
                    (struct owner_file){(const char *)d->pages, (size_t)d->used * PAGE,
                                        (int64_t)d->used * PAGE, FILE_REGULAR});
}

static void test_packages(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    static struct database d;

    (void)state;
    begin(&d);
    add_bash(&d);
    add_setup(&d);
    assert_true(d.used > 6);
    add_image(&image, &d);
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/bin/bash", "rpm bash 5.1-2.el9");
    assert_owner(&image, &owners, "usr/share/doc/bash/readme", "rpm bash 5.1-2.el9");
    assert_owner(&image, &owners, "usr/share/doc/bash/more", "rpm bash 5.1-2.el9");
    assert_owner(&image, &owners, "usr/bin/lost", "-");
    assert_owner(&image, &owners, "etc/motd", "rpm setup");
    assert_owner(&image, &owners, "etc/passwd", "- state");
    assert_false(owners.rpm_unread);
}

/* Each byte of the database is broken once: other owners, or none. */
static void test_broken(void **state)
{
    static struct database d, broken;

    (void)state;
    begin(&d);
    add_bash(&d);
    add_setup(&d);
    for (size_t at = 0; at < (size_t)d.used * PAGE; at++) {
        _cleanup_owner_image_ struct owner_image image = {0};
        _cleanup_owners_ struct owners owners = {0};
        if (d.pages[at] == 0 && at % 16)
            continue;
        broken = d;
        broken.pages[at] ^= at % 3 ? 0xff : 0x05;
        add_image(&image, &broken);
        find_owners(&image, &owners);
    }
}

/* Pages that are their own children, with as many cells as a page can have. */
static void test_circles(void **state)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners owners = {0};
    static struct database d;

    (void)state;
    begin(&d);
    memset(page_at(&d, 2), 0, PAGE);
    page_at(&d, 2)[0] = 5;
    put_u16(page_at(&d, 2) + 3, 0xffff);
    put_u32(page_at(&d, 2) + 8, 2);
    for (size_t i = 12; i + 8 < PAGE; i += 2)
        put_u16(page_at(&d, 2) + i, PAGE - 4);
    put_u32(page_at(&d, 2) + PAGE - 4, 2);
    add_image(&image, &d);
    find_owners(&image, &owners);
    assert_owner(&image, &owners, "usr/bin/bash", "-");
}

/* The formats before SQLite are not read, and that is told. */
static void test_other_formats(void **state)
{
    static const char *const paths[] = {"var/lib/rpm/Packages", "usr/lib/sysimage/rpm/Packages.db",
                                        "var/lib/rpm/rpmdb.sqlite"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        _cleanup_owner_image_ struct owner_image image = {0};
        _cleanup_owners_ struct owners owners = {0};

        owner_image_file(&image, paths[i], "\x13\x57");
        find_owners(&image, &owners);
        assert_true(owners.rpm_unread);
    }
}

UNIT_SUITE(test_rpm)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_other_formats),
    };

    return cmocka_run_group_tests_name("rpm", tests, NULL, NULL);
}
