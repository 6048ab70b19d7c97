#include "shim/plan/gpu/gpu_set.h"

#include "base/glob.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static int set_push(struct gpu_set *set, struct gpu_unit unit, struct arena *arena, struct err *err)
{
    set->list = unit.name ? arena_extend(arena, set->list, set->count, sizeof(*set->list)) : NULL;
    if (!set->list)
        return err_nomem(err);
    set->list[set->count++] = unit;
    return 0;
}

/* ---- nodes ---- */

static int add_card(const struct gpu_host *host, unsigned minor, struct arena *arena,
                    struct gpu_set *out, struct err *err)
{
    const struct gpu_card *card = gpu_host_card(host, minor);
    int64_t index = gpu_host_index(host, minor);

    return set_push(out,
                    (struct gpu_unit){.index = index,
                                      .uuid = card ? card->uuid : "",
                                      .name = index < 0
                                                  ? arena_printf(arena, "/dev/nvidia%u", minor)
                                                  : arena_printf(arena, "%" PRId64, index)},
                    arena, err);
}

static int add_mig(const struct gpu_host *host, const struct gpu_right *right, unsigned minor,
                   struct arena *arena, struct gpu_set *out, struct err *err)
{
    const struct gpu_card *card = right ? gpu_host_card(host, right->card) : NULL;

    return set_push(
        out,
        (struct gpu_unit){.mig = true,
                          .index = card ? card - host->cards : -1,
                          .uuid = card ? card->uuid : "",
                          .name = arena_printf(arena, "MIG device nvidia-cap%u", minor)},
        arena, err);
}

/* The numbers of the rights to manage MIG devices are fixed: 1 and 2. */
static bool is_managing(const struct gpu_right *right, unsigned minor)
{
    return right ? right->kind == GPU_RIGHT_MANAGE : minor <= 2;
}

/* True if the container has MIG devices of that GPU, which is then not a whole one. */
static bool is_divided(const struct gpu_facts *facts, unsigned card)
{
    for (size_t i = 0; i < facts->nodes.right_count; i++) {
        const struct gpu_right *right = gpu_host_right(&facts->host, facts->nodes.rights[i]);
        if (right && right->kind != GPU_RIGHT_MANAGE && right->card == card)
            return true;
    }
    return false;
}

/* Counts compute instances. *unknown: rights that the driver does not show. */
static int add_rights(const struct gpu_facts *facts, struct arena *arena, struct gpu_set *out,
                      size_t *unknown, struct err *err)
{
    for (size_t i = 0; i < facts->nodes.right_count; i++) {
        unsigned minor = facts->nodes.rights[i];
        const struct gpu_right *right = gpu_host_right(&facts->host, minor);

        if (is_managing(right, minor))
            out->manages = true;
        else if (!right)
            (*unknown)++;
        else if (right->kind == GPU_RIGHT_COMPUTE &&
                 add_mig(&facts->host, right, minor, arena, out, err) < 0)
            return -1;
    }
    return 0;
}

/*
 * With rights that are not known, GPUs count as whole ones. A MIG device needs at least one right,
 * and all together one more: what that makes beyond the GPUs is counted as well.
 */
int gpu_set_of_nodes(const struct gpu_facts *facts, struct arena *arena, struct gpu_set *out,
                     struct err *err)
{
    const struct gpu_nodes *nodes = &facts->nodes;
    size_t unknown = 0;

    *out = (struct gpu_set){0};
    if (add_rights(facts, arena, out, &unknown, err) < 0)
        return -1;
    for (size_t i = 0; i < nodes->card_count; i++)
        if (!is_divided(facts, nodes->cards[i]) &&
            add_card(&facts->host, nodes->cards[i], arena, out, err) < 0)
            return -1;
    for (size_t i = nodes->card_count + 1; i < unknown; i++)
        if (add_mig(&facts->host, NULL, nodes->rights[i], arena, out, err) < 0)
            return -1;
    return 0;
}

/* ---- names ---- */

static bool has_unit(const struct gpu_set *set, const struct gpu_unit *unit)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct gpu_unit *other = &set->list[i];
        if (other->mig != unit->mig)
            continue;
        if (unit->mig || unit->index < 0 || other->index < 0
                ? strcasecmp(other->name, unit->name) == 0
                : other->index == unit->index)
            return true;
    }
    return false;
}

int gpu_set_add_name(const struct gpu_host *host, const struct gpu_name *name, struct arena *arena,
                     struct gpu_set *set, struct err *err)
{
    struct gpu_unit unit = {.index = -1, .uuid = "", .name = name->text};
    const struct gpu_card *card = NULL;

    unit.mig = name->kind == GPU_NAME_SLICE || name->kind == GPU_NAME_MIG;
    if (name->kind == GPU_NAME_INDEX || name->kind == GPU_NAME_SLICE) {
        unit.index = name->index;
        card = name->index < host->card_count ? &host->cards[name->index] : NULL;
    } else if (name->kind == GPU_NAME_UUID) {
        card = gpu_host_by_uuid(host, name->text);
        unit.index = card ? card - host->cards : -1;
        unit.uuid = host->card_count ? "" : name->text;
    }
    if (card)
        unit.uuid = card->uuid;
    return has_unit(set, &unit) ? 0 : set_push(set, unit, arena, err);
}

/* ---- the policy ---- */

/* True for a glob that holds for each name with that beginning, "MIG-*" for "MIG-". */
static bool is_any(const char *glob, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(glob, prefix, len) == 0 && strcmp(glob + len, "*") == 0;
}

/* True for "1:*", for GPU 1. */
static bool is_any_slice(const char *glob, int64_t index)
{
    char prefix[32];

    snprintf(prefix, sizeof(prefix), "%" PRId64 ":", index);
    return index >= 0 && is_any(glob, prefix);
}

static bool is_device(const struct gpu_unit *unit, const char *item)
{
    unsigned first, last;

    if (gpu_name_range(item, &first, &last))
        return unit->index >= first && unit->index <= last;
    if (*unit->uuid ? glob_matches(item, unit->uuid) : !unit->mig && is_any(item, "GPU-"))
        return true;
    if (!unit->mig)
        return false;
    return is_any(item, "MIG-") || is_any_slice(item, unit->index) ||
           glob_matches(item, unit->name);
}

const struct gpu_unit *gpu_set_stranger(const struct gpu_set *set,
                                        const struct policy_list *devices)
{
    for (size_t i = 0; devices->given && i < set->count; i++) {
        size_t k = 0;
        while (k < devices->count && !is_device(&set->list[i], devices->items[k]))
            k++;
        if (k == devices->count)
            return &set->list[i];
    }
    return NULL;
}

void gpu_set_print(const struct gpu_set *set, struct buf *out)
{
    enum { MOST_NAMES = 16 };

    for (size_t i = 0; i < set->count && i < MOST_NAMES; i++)
        buf_printf(out, "%s%s", i ? ", " : "", set->list[i].name);
    if (set->count > MOST_NAMES)
        buf_puts(out, ", …");
}
