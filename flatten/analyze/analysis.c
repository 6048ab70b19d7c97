#include "flatten/analyze/analysis.h"

#include "flatten/image/history.h"

void analysis_clear(struct analysis *a)
{
    advice_clear(&a->advice);
    zfs_plan_clear(&a->plan);
    contents_clear(&a->contents);
    dead_report_clear(&a->dead);
    owner_report_clear(&a->owners);
    lookup_report_clear(&a->lookups);
    lookup_report_clear(&a->flat);
    layer_stack_clear(&a->stack);
    cleanup_merge_index(&a->index);
    free(a->created_by);
    cleanup_image(&a->image);
}

/* Finds the history's steps that made layers. All stay unknown if their number is not the layers'.
 */
static int name_layers(struct analysis *a, struct err *err)
{
    const struct json *history = json_get(json_root(a->image->config), "history");
    size_t made = 0, count = a->image->layer_count;

    a->created_by = calloc(count, sizeof(*a->created_by));
    if (!a->created_by)
        return err_nomem(err);
    for (size_t i = 0; i < json_count(history); i++)
        made += !history_is_empty_layer(json_at(history, i));
    if (made != count)
        return 0;
    for (size_t i = 0, layer = 0; layer < count; i++)
        if (!history_is_empty_layer(json_at(history, i)))
            a->created_by[layer++] = json_text(json_get(json_at(history, i), "created_by"));
    return 0;
}

/* Hashes files with a rival, and no others, to tell those whose content did not change. */
static int compare_rivals(struct analysis *a, struct err *err)
{
    struct layer_stack *s = &a->stack;
    _cleanup_free_ uint8_t *wanted = calloc(s->file_count + 1, 1);
    _cleanup_contents_ struct contents contents = {0};

    if (!wanted)
        return err_nomem(err);
    for (size_t i = 0; i < s->file_count; i++) {
        if (!s->files[i].killer || !s->files[i].rival)
            continue;
        wanted[i] = s->files[i].quick ? 0 : CONTENT_QUICK;
        wanted[s->files[i].rival] = s->files[s->files[i].rival].quick ? 0 : CONTENT_QUICK;
    }
    if (contents_read(a->image, s, wanted, &contents, err) < 0)
        return -1;
    dead_compare_rivals(s);
    return 0;
}

/* Returns the parts that advice is drawn from; the analysis keeps them. */
static struct advice_facts facts_of(const struct analysis *a)
{
    return (struct advice_facts){.stack = &a->stack,
                                 .dead = &a->dead,
                                 .lookups = &a->lookups,
                                 .carving = &a->carving,
                                 .costs = a->costs,
                                 .source = a->source,
                                 .created_by = a->created_by};
}

/* Reads the layers, and finds what is hidden and the owners of all files. */
static int read_layers(struct analysis *a, struct err *err)
{
    const struct merged_options options = {0};
    _cleanup_kept_files_ struct kept_files databases = {.wants = owners_is_database};

    if (layer_stack_read(a->image, &options, &databases, &a->stack, &a->index, &a->read, err) < 0 ||
        dead_attribute(&a->stack, err) < 0)
        return -1;
    const struct owner_input in = {.stack = &a->stack,
                                   .databases = &databases,
                                   .symlinks = a->index->symlinks,
                                   .symlink_count = a->index->symlink_cap};
    return owner_weights_find(&in, &a->owners, err);
}

/* Frees the owners by node, which nothing else needs. */
static int estimate_carving(struct analysis *a, struct err *err)
{
    _cleanup_free_ uint64_t *layers = calloc(a->dead.layer_count + 1, sizeof(*layers));

    if (!layers)
        return err_nomem(err);
    for (unsigned i = 0; i < a->dead.layer_count; i++)
        layers[i] = a->dead.layers[i].payload;
    const struct carve_input in = {.image = a->image,
                                   .stack = &a->stack,
                                   .owners = &a->owners.now,
                                   .layers = layers,
                                   .payload = a->dead.payload,
                                   .live = a->dead.live};
    int rc = carve_estimate_make(&in, &a->carving, err);
    free(steal_ptr(&a->owners.now.by_node));
    return rc;
}

int analysis_make(struct image *image, const char *source, const struct lookup_costs *costs,
                  struct analysis *out, struct err *err)
{
    *out = (struct analysis){.source = source, .image = image, .costs = costs};
    if (name_layers(out, err) < 0 || read_layers(out, err) < 0 || compare_rivals(out, err) < 0)
        return -1;
    if (dead_sum(&out->stack, &out->dead, err) < 0 ||
        lookups_count(&out->stack, out->stack.layers, &out->lookups, err) < 0)
        return -1;
    if (lookups_count(&out->stack, 0, &out->flat, err) < 0 || estimate_carving(out, err) < 0)
        return -1;
    const struct advice_facts facts = facts_of(out);
    return advice_make(&facts, &out->advice, err);
}

int analysis_find_duplicates(struct analysis *a, const struct duplicate_image *image,
                             struct err *err)
{
    const struct advice_facts facts = facts_of(a);

    if (duplicates_find(image, &a->duplicates, &a->stale, err) < 0)
        return -1;
    a->compared = true;
    return advice_add_contents(&facts, &a->duplicates, &a->stale, &a->advice, err);
}

bool analysis_judge(struct analysis *a, const struct ci_rules *rules)
{
    const struct ci_values values = {.payload = a->dead.payload,
                                     .dead = a->dead.payload - a->dead.live,
                                     .efficiency = a->dead.efficiency,
                                     .layers = a->dead.layer_count,
                                     .probes = a->lookups.existing.mean};

    return ci_rules_judge(rules, &values, a->results, &a->result_count);
}
