#include "flatten/merge/tree/merged_notice.h"

/* True if the pass that ended at `told` gave notice of what the entry lost. */
static bool is_told(const struct merged_place *told, const struct layer *layer,
                    const struct layer_entry *entry)
{
    if (told->layer == 0 || layer->number < told->layer)
        return false;
    return layer->number > told->layer || entry->info.ordinal < told->ordinal;
}

void merged_notice_entry(const struct merged_options *options, struct merged_report *report,
                         const struct layer *layer, const struct layer_entry *entry,
                         const char *divergence)
{
    report->divergences += divergence != NULL;
    if (divergence && options->notice)
        options->notice(options->notice_ctx, layer->number, entry->info.path, divergence);
    report->dropped += entry->dropped != NULL;
    if (entry->dropped && options->notice && !is_told(&options->told, layer, entry))
        options->notice(options->notice_ctx, layer->number, entry->info.path, entry->dropped);
}
