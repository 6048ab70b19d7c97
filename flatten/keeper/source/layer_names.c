#include "flatten/keeper/source/layer_names.h"

#include <string.h>
#include <unistd.h>

static const char layer_end[] = "/diff";

void layer_names_clear(struct layer_names *l)
{
    free(l->text);
    free(l->names);
}

/* Returns the part of a layer's path below ROOT; NULL for a path of another form. */
static const char *name_below(const char *root, const char *driver, const char *path)
{
    size_t root_len = strlen(root), driver_len = strlen(driver), path_len = strlen(path);
    size_t end_len = sizeof(layer_end) - 1;
    const char *name = path + root_len + 1;

    if (path_len < root_len + end_len + 2 || strncmp(path, root, root_len) != 0 ||
        path[root_len] != '/' || strncmp(name, driver, driver_len) != 0 || name[driver_len] != '/')
        return NULL;
    const char *id = name + driver_len + 1;
    return strcspn(id, "/") == (size_t)(path + path_len - id) - end_len &&
                   strcmp(path + path_len - end_len, layer_end) == 0
               ? name
               : NULL;
}

static int split_names(struct layer_names *l, const char *root, const char *driver, struct err *why)
{
    char *rest = l->text, *path;

    while ((path = strsep(&rest, ":"))) {
        const char *name = name_below(root, driver, path);
        if (!name)
            return err_set(why, ERR_UNSUPPORTED, "a layer is not in %s/%s", root, driver);
        if (l->count < l->cap)
            l->names[l->count] = name;
        l->count++;
    }
    if (l->count != l->cap)
        return err_set(why, ERR_UNSUPPORTED, "the engine names %zu directories for %zu layers",
                       l->count, l->cap);
    return 0;
}

int layer_names_list(const struct json *facts, const char *root, const char *driver,
                     struct layer_names *out, struct err *why)
{
    const struct json *data = json_path(facts, "GraphDriver", "Data", NULL);
    const char *upper = json_text(json_get(data, "UpperDir"));
    const char *lower = json_text(json_get(data, "LowerDir"));

    if (!root || root[0] != '/' || !upper)
        return err_set(why, ERR_UNSUPPORTED, "the engine does not say where its layers are");
    out->text = strf("%s%s%s", upper, lower ? ":" : "", lower ? lower : "");
    out->cap = json_count(json_path(facts, "RootFS", "Layers", NULL));
    out->names = calloc(out->cap + 1, sizeof(*out->names));
    return out->text && out->names ? split_names(out, root, driver, why) : err_nomem(why);
}

char *layer_names_place(const struct json *facts)
{
    const struct json *data = json_path(facts, "GraphDriver", "Data", NULL);
    const char *id = json_text(json_get(facts, "Id"));
    const char *upper = json_text(json_get(data, "UpperDir"));
    const char *lower = json_text(json_get(data, "LowerDir"));

    return strf("%s %s:%s", id ? id : "", upper ? upper : "", lower ? lower : "");
}

int layer_names_check(const char *place, struct err *err)
{
    _cleanup_free_ char *copy = strdup(place);
    char *rest = copy ? copy + strcspn(copy, " ") + 1 : NULL, *path;

    if (!copy)
        return err_nomem(err);
    while ((path = strsep(&rest, ":")))
        if (*path && access(path, F_OK) < 0)
            return err_sys(err, "a layer vanished while the image was read: %s", path);
    return 0;
}
