#include "flatten/exchange/sink.h"

#include "base/buf.h"
#include "flatten/name/image_name.h"

#include <stdlib.h>
#include <string.h>

bool sink_holds_several(const struct reference *ref)
{
    return ref->transport != TRANSPORT_REGISTRY;
}

bool sink_holds_index(const struct reference *ref)
{
    return ref->transport == TRANSPORT_OCI || ref->transport == TRANSPORT_OCI_ARCHIVE ||
           ref->transport == TRANSPORT_REGISTRY;
}

/* Checks a name that the source gave. */
static int check_name(const char *name, bool tag, struct err *err)
{
    if (tag ? image_name_fits_layout(name) : image_name_fits_engine(name))
        return 0;
    return err_set(err, ERR_FORMAT,
                   "its name '%.300s' is not one for %s: give the new image another", name,
                   tag ? "an OCI layout" : "engines");
}

/* True for a tag as registries and engines take it (distribution/reference). */
static bool is_tag(const char *tag)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t len = strlen(tag);

    return len > 0 && len <= 128 && strspn(tag, letters) == len && tag[0] != '.' && tag[0] != '-';
}

/* Sets *out to the name with the tag that the image has at its source, in the place of {tag}. */
static int name_by_tag(const struct reference *to, const char *source_name, char **out,
                       struct err *err)
{
    const char *tag = source_name ? sink_layout_tag(source_name, false) : NULL;

    if (!tag || !is_tag(tag))
        return err_set(err, ERR_USAGE, "%s%.300s%s has no tag for {tag}",
                       source_name ? "the name '" : "the image", source_name ? source_name : "",
                       source_name ? "'" : "");
    *out = to->name ? strf("%s:%s", to->name, tag) : strdup(tag);
    return *out ? 0 : err_nomem(err);
}

int sink_image_name(const struct reference *to, const char *source_name, char **out,
                    struct err *err)
{
    const char *name = to->name ? to->name : source_name;
    bool tag = to->transport == TRANSPORT_OCI || to->transport == TRANSPORT_OCI_ARCHIVE;

    *out = NULL;
    if (to->by_tag)
        return name_by_tag(to, source_name, out, err);
    if (!name || !(tag || to->name || image_name_tag(name)))
        return 0;
    if (!to->name && check_name(name, tag, err) < 0)
        return -1;
    if (!tag)
        return (*out = image_name_tagged(name, err)) ? 0 : -1;
    *out = strdup(name);
    return *out ? 0 : err_nomem(err);
}

const char *sink_layout_tag(const char *name, bool whole)
{
    const char *tag = whole ? NULL : image_name_tag(name);

    return tag ? tag : name;
}
