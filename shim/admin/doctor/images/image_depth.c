#include "shim/admin/doctor/images/image_depth.h"

#include <stdio.h>

enum { DEEP = 70, DOCKERS_END = 127, SHORT_ID = 12 };

void image_depth_add(struct image_depth *d, const char *name, const char *id, size_t layers)
{
    d->images++;
    if (layers <= d->layers)
        return;
    d->layers = layers;
    snprintf(d->name, sizeof(d->name), "%.*s", name ? NAME_MAX : SHORT_ID, name ? name : id);
}

void image_depth_judge(const struct image_depth *d, const char *store, struct diagnoses *out)
{
    bool deep = d->layers > DEEP;

    if (d->images == 0)
        return;
    struct diagnosis *of =
        diagnoses_add(out, deep ? DIAGNOSIS_WARNING : DIAGNOSIS_OK, "image-depth", store,
                      "the deepest of %zu image%s, %s, has %zu layer%s", d->images,
                      d->images == 1 ? "" : "s", d->name, d->layers, d->layers == 1 ? "" : "s");
    if (!deep)
        return;
    diagnosis_cost(out, of,
                   "each lookup of a missing file searches up to %zu layers; Docker takes no more "
                   "than %d",
                   d->layers, DOCKERS_END);
    diagnosis_mend(
        out, of,
        "flatten %s; or \"rootfs\": {\"max_depth\": 32, \"beyond\": \"restack\"} in the policy%s%s",
        d->nameless ? "IMAGE" : d->name, d->nameless ? "; " : "", d->nameless ? d->nameless : "");
}
