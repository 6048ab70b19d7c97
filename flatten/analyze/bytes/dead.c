#include "flatten/analyze/bytes/dead.h"

/* The record that hides a name. */
struct killer {
    const struct stack_record *record; /* NULL: the name shows */
    bool above;                        /* the record is of a directory above the name */
};

/* Returns the oldest record of the node above `layer`; of an ancestor, one that hides all below. */
static const struct stack_record *oldest_above(const struct layer_stack *s, uint32_t node,
                                               uint16_t layer, bool ancestor)
{
    const struct stack_record *found = NULL;

    for (uint32_t at = layer_stack_newest(s, node); at != STACK_NONE; at = s->records[at].older) {
        const struct stack_record *r = &s->records[at];
        if (r->layer <= layer)
            break;
        if (!ancestor || r->kind != MODEL_DIR || r->opaque)
            found = r;
    }
    return found;
}

static struct killer killer_of(const struct layer_stack *s, const struct stack_record *name)
{
    struct killer k = {oldest_above(s, name->node, name->layer, false), false};

    for (uint32_t up = tree_parent(s->tree, name->node); up != TREE_NONE;
         up = tree_parent(s->tree, up)) {
        const struct stack_record *r =
            up == TREE_ROOT ? NULL : oldest_above(s, up, name->layer, true);
        if (r && (!k.record || r->layer < k.record->layer))
            k = (struct killer){r, true};
    }
    return k;
}

static enum dead_cause cause_of(const struct layer_stack *s, const struct killer *k)
{
    if (k->record->kind == MODEL_WHITEOUT)
        return DEAD_DELETED;
    if (k->above)
        return k->record->kind == MODEL_DIR ? DEAD_OPAQUE : DEAD_TYPE;
    return stack_record_file(s, k->record) ? DEAD_OVERWRITTEN : DEAD_TYPE;
}

/* Names come in any order; the name that was hidden last decides. */
static void attribute_name(struct layer_stack *s, uint32_t at)
{
    struct stack_record *name = &s->records[at];
    struct stack_file *file = stack_record_file(s, name);

    if (!file || file->shows)
        return;
    struct killer k = killer_of(s, name);
    if (!k.record || k.record->layer <= file->killer)
        return;
    const struct stack_file *rival = k.above ? NULL : stack_record_file(s, k.record);
    file->killer = k.record->layer;
    file->cause = (uint8_t)cause_of(s, &k);
    file->rival = rival && rival->size == file->size ? k.record->inode : 0;
}

/* For dive: a whiteout of a directory has the size of what it hid. */
static void charge_whiteout(struct layer_stack *s, uint32_t at)
{
    const struct stack_record *name = &s->records[at];

    if (name->size == 0)
        return;
    struct killer k = killer_of(s, name);
    if (k.record && k.above && k.record->kind == MODEL_WHITEOUT)
        s->records[k.record - s->records].size += name->size;
}

int dead_attribute(struct layer_stack *s, struct err *err)
{
    _cleanup_free_ uint16_t *floors = layer_stack_floors(s, err);

    if (!floors)
        return -1;
    for (uint32_t node = 1; node < s->nodes; node++) {
        const struct stack_record *r = layer_stack_visible(s, floors, node);
        struct stack_file *file = r ? stack_record_file(s, r) : NULL;
        if (file)
            file->shows = true;
    }
    for (uint32_t at = 0; at < s->count; at++) {
        attribute_name(s, at);
        if (s->records[at].kind != MODEL_WHITEOUT)
            charge_whiteout(s, at);
    }
    /* A file without a name even in its own layer was replaced there by a later entry. */
    for (size_t i = 0; i < s->file_count; i++) {
        struct stack_file *file = &s->files[i];
        if (file->layer && !file->shows && !file->killer) {
            file->killer = file->layer;
            file->cause = DEAD_OVERWRITTEN;
        }
    }
    return 0;
}

void dead_compare_rivals(struct layer_stack *s)
{
    for (size_t i = 0; i < s->file_count; i++) {
        struct stack_file *file = &s->files[i];
        if (!file->killer || !file->rival)
            continue;
        if (file->quick && file->quick == s->files[file->rival].quick)
            file->cause = DEAD_METADATA;
    }
}
