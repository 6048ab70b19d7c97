/*
 * Databases of package managers in an image (flatten/carve/owners). The input is an image as text:
 * a line "=PATH" starts a file that has all up to the next such line, "@PATH TARGET" is a symbolic
 * link. Owners are always found, each is in the list, and a second time they are the same.
 */
#include "fuzz.h"
#include "tests/unit/lib/carve/owner_image.h"

struct input {
    const char *text, *end;
};

/* Takes one line, without its newline. */
static bool take_line(struct input *in, const char **line, size_t *len)
{
    if (in->text == in->end)
        return false;
    const char *newline = memchr(in->text, '\n', (size_t)(in->end - in->text));
    *line = in->text;
    *len = (size_t)((newline ? newline : in->end) - in->text);
    in->text = newline ? newline + 1 : in->end;
    return true;
}

/* Takes the lines of a file's content. */
static struct owner_file take_content(struct input *in)
{
    struct owner_file file = {.text = in->text, .kind = FILE_REGULAR};
    const char *line;
    size_t len;

    while (in->text != in->end && *in->text != '=' && *in->text != '@')
        take_line(in, &line, &len);
    file.len = (size_t)(in->text - file.text);
    file.size = (int64_t)file.len;
    return file;
}

static void add_link(struct owner_image *image, const char *line, size_t len, struct arena *arena)
{
    const char *blank = memchr(line, ' ', len);
    size_t path = blank ? (size_t)(blank - line) : len;
    const char *target = arena_strndup(arena, line + path, len - path);

    must(target);
    target += blank != NULL;
    owner_image_add(image, line, path, (struct owner_file){.text = target, .kind = FILE_LINK});
}

static void build_image(struct owner_image *image, const uint8_t *data, size_t size,
                        struct arena *arena)
{
    struct input in = {(const char *)data, (const char *)data + size};
    const char *line;
    size_t len;

    owner_image_add(image, "", 0, (struct owner_file){0});
    while (take_line(&in, &line, &len)) {
        if (len > 1 && *line == '=')
            owner_image_add(image, line + 1, len - 1, take_content(&in));
        else if (len > 1 && *line == '@')
            add_link(image, line + 1, len - 1, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_owner_image_ struct owner_image image = {0};
    _cleanup_owners_ struct owners first = {0}, second = {0};
    _cleanup_arena_ struct arena arena = {0};
    struct err err = ERR_INIT;

    build_image(&image, data, size, &arena);
    struct owner_source source = owner_image_source(&image);
    must(owners_find(&source, &first, &err) == 0 && owners_find(&source, &second, &err) == 0);
    must(first.node_count == tree_count(image.tree) && first.count == second.count);
    must(first.cut == second.cut && first.rpm_unread == second.rpm_unread);
    for (size_t i = 0; i < first.count; i++) {
        const struct owner *a = &first.list[i], *b = &second.list[i];
        must(a->kind == b->kind && a->tier == b->tier && strcmp(a->name, b->name) == 0);
        must(!a->version == !b->version && (!a->version || strcmp(a->version, b->version) == 0));
        must(i < 3 || a->kind > a[-1].kind || strcmp(a[-1].name, a->name) < 0);
    }
    for (uint32_t node = 0; node < first.node_count; node++) {
        must(first.by_node[node] < first.count && first.by_node[node] == second.by_node[node]);
        must(image.files[node].kind != FILE_DIR || first.by_node[node] == OWNERS_NOBODY);
    }
    return 0;
}
