#include "shim/apply/apply_parts.h"
#include "shim/gpu/gpu_nodes.h"
#include "shim/gpu/gpu_request.h"

void apply_gpus(const struct decision *decision, struct json_doc *doc, const struct spec *spec)
{
    for (size_t i = 0; i < decision->count; i++) {
        const struct outcome *o = &decision->list[i];
        const struct plan_gpus *gpus = &o->op->gpus;
        if (o->op->kind != PLAN_GPUS || o->verdict != PLAN_DOWNGRADED)
            continue;
        if (gpus->value)
            gpu_request_rewrite(spec, doc, gpus->value);
        if (gpus->strip)
            gpu_nodes_strip(spec, gpus->host, gpus->keep, gpus->keep_count);
    }
}
