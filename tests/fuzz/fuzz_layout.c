/*
 * Layouts of versions, as a lineage (tests/unit/lib/carve/lineage.h): for any change of any tree,
 * the layers show exactly the new version, within the limits on dead bytes and on layers.
 */
#include "fuzz.h"
#include "tests/unit/lib/carve/lineage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_source source = {data, size, 0};
    struct lineage l;

    must(lineage_begin(&l, &source));
    l.options.layout.layers = model_pick(&source, 12);
    l.options.layout.cap = model_pick(&source, 2) ? 0 : 512u << model_pick(&source, 8);
    l.options.max_dead = model_pick(&source, 11) / 20.0;
    l.options.max_probes = 1 + model_pick(&source, 16) / 8.0;
    lineage_change(&l, model_pick(&source, 64));
    if (model_pick(&source, 4) == 0)
        lineage_old_layers(&l, model_pick(&source, 8));
    for (int version = 0; version < 10 && (version == 0 || source.size > 0); version++) {
        bool holds = lineage_step(&l) && lineage_repeat(&l);
        if (!holds)
            fprintf(stderr, "version %d, %s\n", version, l.fault);
        must(holds);
        lineage_change(&l, 1 + model_pick(&source, 16));
    }
    lineage_end(&l);
    return 0;
}
