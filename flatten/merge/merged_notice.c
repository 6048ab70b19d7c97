#include "flatten/merge/merged_notice.h"

void merged_notice_entry(const struct merged_options *options, struct merged_report *report,
                         const struct layer *layer, const struct layer_entry *entry,
                         const char *divergence)
{
    report->divergences += divergence != NULL;
    if (divergence && options->notice)
        options->notice(options->notice_ctx, layer->number, entry->info.path, divergence);
    report->dropped += entry->dropped != NULL;
    if (entry->dropped && options->notice)
        options->notice(options->notice_ctx, layer->number, entry->info.path, entry->dropped);
}
