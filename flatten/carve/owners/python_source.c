#include "flatten/carve/owners/python_source.h"

#include <string.h>

enum { NAME_MOST = 255 };

/* Returns the length of a name without its last ".WORD"; 0 if nothing would be left. */
static size_t cut_word(const char *name, size_t len)
{
    const char *dot = memrchr(name, '.', len);

    return dot ? (size_t)(dot - name) : 0;
}

static bool is_compiled(const char *name, size_t len)
{
    return len > 4 &&
           (memcmp(name + len - 4, ".pyc", 4) == 0 || memcmp(name + len - 4, ".pyo", 4) == 0);
}

/* Cuts the name of a file in __pycache__, without ".pyc", to the module's. */
static size_t cut_tags(const char *name, size_t len)
{
    const char *last = memrchr(name, '.', len);

    if (last && len - (size_t)(last - name) > 5 && memcmp(last, ".opt-", 5) == 0)
        len = cut_word(name, len);
    return cut_word(name, len);
}

bool python_is_source(const struct tree *tree, uint32_t node)
{
    size_t len;
    const char *name = tree_name(tree, node, &len);

    return len > 3 && memcmp(name + len - 3, ".py", 3) == 0;
}

bool python_is_cache(const struct tree *tree, uint32_t node)
{
    static const char cache[] = "__pycache__";
    size_t len;
    const char *name = tree_name(tree, node, &len);

    return len == sizeof(cache) - 1 && memcmp(name, cache, len) == 0;
}

uint32_t pyc_source(const struct tree *tree, uint32_t node)
{
    uint32_t dir = tree_parent(tree, node);
    char source[NAME_MOST + 3];
    size_t len;
    const char *name = tree_name(tree, node, &len);

    if (node == TREE_ROOT || len > NAME_MOST || !is_compiled(name, len))
        return TREE_NONE;
    len = cut_word(name, len);
    if (python_is_cache(tree, dir)) {
        len = cut_tags(name, len);
        dir = tree_parent(tree, dir);
    }
    if (len == 0)
        return TREE_NONE;
    memcpy(source, name, len);
    memcpy(source + len, ".py", 3);
    return tree_find(tree, dir, source, len + 3);
}
