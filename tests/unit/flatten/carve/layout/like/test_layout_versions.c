#include "flatten/carve/layout/like/layout_like.h"
#include "tests/unit/lib/carve/torch_sample.h"

enum { VERSIONS = 10, LAYERS = 128 };

struct written {
    struct layout_entry *entries;
    size_t count;
    bool state;
};

/* Versions of an image, in one tree. */
struct versions {
    struct sample *s;
    unsigned upgrades[SAMPLE_OWNERS]; /* by owner */
    size_t first_release;             /* files that only one version of an owner has */
    struct layout_identity *identities, *before;
    struct written layers[LAYERS];
    size_t layer_count;
    uint64_t changed, transferred; /* bytes, without the first version */
    double most_dead, most_probes;
    size_t most_layers;
};

static bool is_upgraded(const struct versions *v, uint32_t owner, unsigned version)
{
    static const char *const frameworks[] = {"torch", "tensorflow", "triton", "onnxruntime"};
    const struct owner *o = &v->s->owner_list[owner];

    if (owner < 2) /* the application and the state */
        return true;
    if (o->tier == TIER_FRAMEWORK)
        return strcmp(o->name, frameworks[version % 4]) == 0;
    return sample_hash(o->name, version) % 50 == 0;
}

static uint64_t identity_of(const struct versions *v, const struct layout_file *file)
{
    bool model = file->owner == 0 && file->bytes > 1000000;

    return sample_hash("file",
                       ((uint64_t)file->node << 32) + (model ? 0 : v->upgrades[file->owner])) |
           1;
}

/* Each owner has a file that is named after its version. */
static void add_releases(struct versions *v)
{
    v->first_release = v->first_release ? v->first_release : v->s->file_count;
    v->s->file_count = v->first_release;
    for (uint32_t i = 2; i < v->s->owners.count; i++)
        sample_addf(v->s, i, 2000, "usr/share/%s/release-%u", v->s->owner_list[i].name,
                    v->upgrades[i]);
}

static void find_identities(struct versions *v)
{
    size_t nodes = tree_count(v->s->tree);

    free(v->before);
    v->before = v->identities;
    v->identities = calloc(nodes + SAMPLE_OWNERS, sizeof(*v->identities));
    assert_non_null(v->identities);
    for (uint32_t node = 0; node < nodes; node++)
        v->identities[node].part[0] = node + 1;
    for (size_t i = 0; i < v->s->file_count; i++) {
        const struct layout_file *file = &v->s->files[i];
        v->identities[file->node].part[0] = identity_of(v, file);
        if (i >= v->first_release)
            v->identities[tree_parent(v->s->tree, file->node)].part[0] = identity_of(v, file) - 1;
    }
}

static void upgrade(struct versions *v, unsigned version)
{
    for (uint32_t i = 0; version > 0 && i < v->s->owners.count; i++)
        v->upgrades[i] += is_upgraded(v, i, version);
    add_releases(v);
    find_identities(v);
    for (size_t i = 0; version > 0 && i < v->s->file_count; i++) {
        const struct layout_file *file = &v->s->files[i];
        if (v->identities[file->node].part[0] != v->before[file->node].part[0])
            v->changed += file->bytes;
    }
}

static void describe(const struct versions *v, struct layout_previous *p,
                     struct layout_previous_layer *layers)
{
    size_t count = 0;

    for (size_t i = 0; i < v->layer_count; i++)
        count += v->layers[i].count;
    struct layout_entry *entries = calloc(count + 1, sizeof(*entries));
    assert_non_null(entries);
    *p = (struct layout_previous){layers, v->layer_count, entries, 0};
    for (size_t i = 0; i < v->layer_count; i++) {
        layers[i] = (struct layout_previous_layer){.state = v->layers[i].state};
        for (size_t k = 0; k < v->layers[i].count; k++) {
            struct layout_entry *e = &entries[p->entry_count];
            *e = v->layers[i].entries[k];
            e->layer = (uint16_t)i;
            e->inode = (uint32_t)p->entry_count++;
        }
    }
}

/* Returns for each node the newest layer with a file below it, or that describes it. */
static uint16_t *newest_layers(const struct versions *v, const struct layout_like *plan)
{
    size_t nodes = tree_count(v->s->tree);
    uint16_t *newest = calloc(nodes, sizeof(*newest));

    assert_non_null(newest);
    for (uint32_t node = 0; node < nodes; node++)
        newest[node] = in_state(&plan->layout, node) ? (uint16_t)(plan->layout.count - 1) : 0;
    for (size_t i = 0; i < v->s->file_count; i++)
        for (uint32_t dir = tree_parent(v->s->tree, v->s->files[i].node); dir != TREE_NONE;
             dir = tree_parent(v->s->tree, dir))
            if (plan->layout.by_file[i] > newest[dir])
                newest[dir] = plan->layout.by_file[i];
    return newest;
}

/* A directory's header is the true one in the newest layer that has it. */
static void write_layer(const struct versions *v, const struct layout_like *plan,
                        const uint16_t *newest, uint16_t number, struct written *out)
{
    size_t nodes = tree_count(v->s->tree);
    uint8_t *has = calloc(nodes, 1);

    out->state = number + 1u == plan->layout.count;
    out->entries = calloc(plan->layout.layers[number].files + nodes, sizeof(*out->entries));
    assert_true(has && out->entries);
    for (size_t i = 0; i < v->s->file_count; i++) {
        const struct layout_file *file = &v->s->files[i];
        if (plan->layout.by_file[i] != number)
            continue;
        out->entries[out->count++] = (struct layout_entry){.identity = v->identities[file->node],
                                                           .bytes = file->bytes,
                                                           .node = file->node,
                                                           .kind = LAYOUT_FILE};
        for (uint32_t dir = tree_parent(v->s->tree, file->node); dir != TREE_NONE;
             dir = tree_parent(v->s->tree, dir))
            has[dir] = 1;
    }
    for (uint32_t node = 0; node < nodes; node++)
        if (has[node])
            out->entries[out->count++] = (struct layout_entry){
                .identity =
                    newest[node] == number ? v->identities[node] : (struct layout_identity){{1, 1}},
                .node = node,
                .kind = LAYOUT_DIR};
    free(has);
}

static void write_layers(struct versions *v, const struct layout_like *plan)
{
    struct written next[LAYERS] = {0};
    _cleanup_free_ uint16_t *newest = newest_layers(v, plan);

    for (uint16_t i = 0; i < plan->layout.count; i++) {
        if (i >= plan->kept) {
            write_layer(v, plan, newest, i, &next[i]);
            continue;
        }
        next[i] = v->layers[plan->previous[i]];
        v->layers[plan->previous[i]].entries = NULL;
    }
    for (size_t i = 0; i < v->layer_count; i++)
        free(v->layers[i].entries);
    memcpy(v->layers, next, sizeof(next));
    v->layer_count = plan->layout.count;
}

static void lay_out(struct versions *v, unsigned version)
{
    static const struct layout_like_options options = {.max_dead = LAYOUT_MAX_DEAD,
                                                       .max_probes = LAYOUT_MAX_PROBES};
    struct layout_previous_layer layers[LAYERS];
    _cleanup_layout_like_ struct layout_like plan = {0};
    struct layout_input in = sample_input(v->s);
    struct layout_previous previous;
    struct err err = ERR_INIT;

    describe(v, &previous, layers);
    _cleanup_free_ const struct layout_entry *entries = previous.entries;
    assert_non_null(entries);
    assert_works(layout_like_make(&in, v->identities, &previous, &options, &plan, &err), err);
    double dead = (double)plan.dead / (double)(plan.dead + plan.live + plan.transfer);
    printf(
        "version %2u: %2zu of %2zu layers kept, %2zu layers, %5.0f MB of %5.0f new, %4.1f %% dead, "
        "%.3f probes, %zu whiteouts\n",
        version, plan.kept, v->layer_count, plan.layout.count, (double)plan.transfer / 1e6,
        (double)(plan.live + plan.transfer) / 1e6, 100 * dead, plan.layout.probes,
        plan.whiteout_count);
    v->transferred += version > 0 ? plan.transfer : 0;
    v->most_dead = dead > v->most_dead ? dead : v->most_dead;
    v->most_probes = plan.layout.probes > v->most_probes ? plan.layout.probes : v->most_probes;
    v->most_layers = plan.layout.count > v->most_layers ? plan.layout.count : v->most_layers;
    write_layers(v, &plan);
}

/* Ten versions, each with 2 % of the packages, the application, a framework and the state new. */
static void check_lineage(enum torch_shape shape)
{
    struct versions *v = calloc(1, sizeof(*v));

    assert_non_null(v);
    v->s = torch_sample(shape);
    for (unsigned version = 0; version < VERSIONS; version++) {
        upgrade(v, version);
        lay_out(v, version);
    }
    printf("changed %.0f MB, transferred %.0f MB\n", (double)v->changed / 1e6,
           (double)v->transferred / 1e6);
    assert_true(v->transferred <= 2 * v->changed);
    assert_true(v->most_dead <= LAYOUT_MAX_DEAD);
    assert_true(v->most_probes <= LAYOUT_MAX_PROBES);
    assert_true(v->most_layers <= LAYOUT_LAYERS);
    for (size_t i = 0; i < v->layer_count; i++)
        free(v->layers[i].entries);
    free(v->identities);
    free(v->before);
    sample_free(v->s);
    free(v);
}

static void test_debian(void **state)
{
    (void)state;
    check_lineage(TORCH_DEBIAN);
}

UNIT_SUITE(test_layout_versions)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_debian),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
