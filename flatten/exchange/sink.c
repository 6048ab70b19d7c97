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

int sink_image_name(const struct reference *to, const char *source_name, char **out,
                    struct err *err)
{
    const char *name = to->name ? to->name : source_name;

    *out = NULL;
    if (!name)
        return 0;
    if (to->transport == TRANSPORT_OCI || to->transport == TRANSPORT_OCI_ARCHIVE)
        *out = strdup(name);
    else if (to->name || image_name_tag(name))
        return (*out = image_name_tagged(name, err)) ? 0 : -1;
    else
        return 0;
    return *out ? 0 : err_nomem(err);
}

const char *sink_layout_tag(const char *name, bool whole)
{
    const char *tag = whole ? NULL : image_name_tag(name);

    return tag ? tag : name;
}
