#include "flatten/exchange/sink.h"

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

int sink_image_name(const struct reference *to, const char *source_name, char **out,
                    struct err *err)
{
    const char *name = to->name ? to->name : source_name;
    bool tag = to->transport == TRANSPORT_OCI || to->transport == TRANSPORT_OCI_ARCHIVE;

    *out = NULL;
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
