/* Shared by the suites of flatten/carve/owners: the owner of a path, as text. */
#ifndef TESTS_OWNERS_UNIT_H
#define TESTS_OWNERS_UNIT_H

#include "tests/unit/lib/carve/owner_image.h"
#include "tests/unit/lib/unit.h"

static inline void find_owners(struct owner_image *image, struct owners *owners)
{
    struct owner_source source = owner_image_source(image);
    struct err err = ERR_INIT;

    assert_works(owners_find(&source, owners, &err), err);
    assert_int_equal(owners->node_count, tree_count(image->tree));
}

/* Writes "KIND NAME VERSION"; "-" for a path that the image does not have. */
static inline const char *owner_text(const struct owner_image *image, const struct owners *owners,
                                     const char *path, char out[600])
{
    static const char *const kinds[] = {"-", "rpm", "apk", "dpkg", "npm", "pip", "conda"};
    uint32_t node = owner_image_node(image, path);

    if (node == TREE_NONE)
        return "no such path";
    assert_in_range(owners->by_node[node], 0, owners->count - 1);
    const struct owner *o = &owners->list[owners->by_node[node]];
    snprintf(out, 600, "%s%s%s%s%s", kinds[o->kind], *o->name ? " " : "", o->name,
             o->version ? " " : "", o->version ? o->version : "");
    return out;
}

#define assert_owner(image, owners, path, expected)                                                \
    do {                                                                                           \
        char text_[600];                                                                           \
        const char *found_ = owner_text(image, owners, path, text_);                               \
        if (strcmp(found_, expected) != 0)                                                         \
            fail_msg("%s: '%s' instead of '%s'", path, found_, expected);                          \
    } while (0)

#endif
