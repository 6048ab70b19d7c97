#include "flatten/analyze/bytes/dead.h"

/* What hides a name: the layer and the record that does it. */
struct killer {
    const struct stack_record *record; /* NULL: it shows */
    bool above;                        /* the record is of a directory above */
};

/* The oldest record of the node that is newer than `layer` and, for ancestors, hides all below. */
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

/* Names are taken in any order; the last to be hidden counts. */
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

/* dive counts a whiteout of a directory with what it hid. */
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
    /* What bore no name even in its own layer came twice there. */
    for (size_t i = 0; i < s->file_count; i++) {
        struct stack_file *file = &s->files[i];
        if (file->layer && !file->shows && !file->killer) {
            file->killer = file->layer;
            file->cause = DEAD_OVERWRITTEN;
        }
    }
    return 0;
}

void dead_settle(struct layer_stack *s)
{
    for (size_t i = 0; i < s->file_count; i++) {
        struct stack_file *file = &s->files[i];
        if (!file->killer || !file->rival)
            continue;
        if (file->quick && file->quick == s->files[file->rival].quick)
            file->cause = DEAD_METADATA;
    }
}
