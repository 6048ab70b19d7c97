#include "shim/plan/gpu/gpu_judge.h"

#include "shim/plan/gpu/gpu_set.h"

#include <string.h>

struct judge {
    const struct policy_gpus *policy;
    const struct gpu_facts *facts;
    struct arena *arena;
    struct gpu_ruling *out;
    struct err *err;
};

/* ---- rulings ---- */

static int rule(struct judge *j, enum gpu_outcome outcome, const char *key,
                const struct policy_place *place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int rule(struct judge *j, enum gpu_outcome outcome, const char *key,
                const struct policy_place *place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    j->out->reason = arena_vprintf(j->arena, format, args);
    va_end(args);
    j->out->outcome = outcome;
    j->out->key = key;
    j->out->place = place->file ? place : &j->policy->place;
    return j->out->reason ? 0 : err_nomem(j->err);
}

static bool is_denied(const struct judge *j)
{
    return j->out->outcome == GPU_DENIED;
}

/* Returns true if the policy lets no container have any GPU. */
static bool allows_none(const struct policy_gpus *policy)
{
    return (policy->limited && policy->max == 0) ||
           (policy->devices.given && !policy->devices.count);
}

static int deny_every(struct judge *j)
{
    bool by_max = j->policy->limited && j->policy->max == 0;

    return rule(j, GPU_DENIED, by_max ? "gpus.max" : "gpus.devices",
                by_max ? &j->policy->max_place : &j->policy->devices.place, "no GPU is allowed");
}

/* ---- a set of GPUs ---- */

static int deny_stranger(struct judge *j, const struct gpu_unit *unit)
{
    const struct policy_list *devices = &j->policy->devices;
    _cleanup_buf_ struct buf allowed = BUF_INIT;

    for (size_t i = 0; i < devices->count; i++)
        buf_printf(&allowed, "%s%s", i ? ", " : "", devices->items[i]);
    if (allowed.failed)
        return err_nomem(j->err);
    return rule(j, GPU_DENIED, "gpus.devices", &devices->place,
                "%s%.100s is not allowed; allowed are %.500s", unit->mig ? "" : "the GPU ",
                unit->name, allowed.data ? allowed.data : "none");
}

/* True if that is each GPU of a host that has several. */
static bool is_every(const struct judge *j, const struct gpu_set *set)
{
    size_t cards = 0;

    for (size_t i = 0; i < set->count; i++)
        cards += !set->list[i].mig;
    return cards > 1 && cards == j->facts->host.card_count;
}

static int judge_set(struct judge *j, const struct gpu_set *set)
{
    const struct policy_gpus *policy = j->policy;
    _cleanup_buf_ struct buf names = BUF_INIT;

    gpu_set_print(set, &names);
    if (names.failed)
        return err_nomem(j->err);
    if (set->count && allows_none(policy))
        return deny_every(j);
    if (set->manages)
        return rule(j, GPU_DENIED, "gpus", &policy->place,
                    "the container could change or watch all MIG devices of this host");
    const struct gpu_unit *stranger = gpu_set_stranger(set, &policy->devices);
    if (stranger)
        return deny_stranger(j, stranger);
    if (policy->limited && set->count > policy->max)
        return rule(j, GPU_DENIED, "gpus.max", &policy->max_place,
                    "the container would have %zu GPUs (%s); allowed are at most %llu", set->count,
                    names.data, (unsigned long long)policy->max);
    if (!policy->limited && !policy->allow_all && is_every(j, set))
        return rule(j, GPU_DENIED, "gpus.all", &policy->all_place,
                    "the container would have all GPUs of this host (%s)", names.data);
    if (!set->count)
        return 0;
    return rule(j, GPU_ALLOWED, "gpus", &policy->place, "allowed: %s", names.data);
}

/* Fills in the set of the host's GPUs. */
static int every_card(struct judge *j, struct gpu_set *out)
{
    for (unsigned i = 0; i < j->facts->host.card_count; i++) {
        char text[16];
        snprintf(text, sizeof(text), "%u", i);
        struct gpu_name name = {GPU_NAME_INDEX, i, arena_strndup(j->arena, text, strlen(text))};
        if (!name.text)
            return err_nomem(j->err);
        if (gpu_set_add_name(&j->facts->host, &name, j->arena, out, j->err) < 0)
            return -1;
    }
    return 0;
}

/*
 * Judges a container that has or gets all GPUs, and "all" is allowed. Without a loaded driver it is
 * not known how many that are.
 */
static int judge_every(struct judge *j, const char *reason)
{
    struct gpu_set set = {0};

    if (!j->policy->limited && !j->policy->devices.given)
        return rule(j, GPU_ALLOWED, "gpus.all", &j->policy->all_place, "allowed: all");
    if (allows_none(j->policy))
        return deny_every(j);
    if (!j->facts->host.card_count)
        return rule(j, GPU_DENIED, "gpus", &j->policy->place,
                    "%s, and how many there are is not known: the driver is not loaded", reason);
    return every_card(j, &set) < 0 ? -1 : judge_set(j, &set);
}

/* ---- "all", where it is denied ---- */

/* Fills in the set of "default". */
static int default_set(struct judge *j, struct gpu_set *out)
{
    *out = (struct gpu_set){0};
    for (const char *at = j->policy->names.text; *at; at += *at == ',') {
        struct gpu_name name;
        size_t len = strcspn(at, ",");
        if (!gpu_name_parse(at, len, j->arena, &name))
            return err_nomem(j->err);
        if (gpu_set_add_name(&j->facts->host, &name, j->arena, out, j->err) < 0)
            return -1;
        at += len;
    }
    return 0;
}

static int deny_all(struct judge *j)
{
    return rule(
        j, GPU_DENIED, "gpus.all", &j->policy->all_place,
        "the container asks for all GPUs, as images of CUDA do by themselves; ask for some by "
        "number, as in NVIDIA_VISIBLE_DEVICES=0");
}

/* Decides on the variable of a container that asks for all. */
static int give_default(struct judge *j)
{
    struct gpu_set set;

    if (j->policy->fallback == GPUS_REFUSE)
        return deny_all(j);
    j->out->value = "void";
    if (j->policy->fallback == GPUS_LISTED) {
        if (default_set(j, &set) < 0 || judge_set(j, &set) < 0)
            return -1;
        if (is_denied(j))
            return 0;
        j->out->value = j->policy->names.text;
    }
    return rule(j, GPU_REWRITTEN, "gpus.default", &j->policy->fallback_place,
                "all GPUs are asked for, perhaps by the image; the container gets %s",
                j->policy->fallback == GPUS_LISTED ? j->policy->names.text : "none");
}

/* Finds the minor numbers of the nodes that "default" leaves. False if one of its GPUs is not
 * there. */
static bool find_kept(struct judge *j, const struct gpu_set *set, unsigned *keep, size_t *count)
{
    const struct gpu_nodes *nodes = &j->facts->nodes;

    *count = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t k = 0;
        while (k < nodes->card_count &&
               (set->list[i].mig || set->list[i].index < 0 ||
                gpu_host_index(&j->facts->host, nodes->cards[k]) != set->list[i].index))
            k++;
        if (k == nodes->card_count)
            return false;
        keep[(*count)++] = nodes->cards[k];
    }
    return true;
}

/* Decides on the nodes of a container that asked for all, and has got them. */
static int strip_to_default(struct judge *j)
{
    struct gpu_set set = {0};

    if (j->policy->fallback == GPUS_REFUSE)
        return deny_all(j);
    if (j->policy->fallback == GPUS_LISTED) {
        if (default_set(j, &set) < 0 || judge_set(j, &set) < 0)
            return -1;
        if (is_denied(j))
            return 0;
    }
    unsigned *keep = arena_alloc(j->arena, (set.count + 1) * sizeof(*keep));
    if (!keep)
        return err_nomem(j->err);
    if (!find_kept(j, &set, keep, &j->out->keep_count))
        return rule(j, GPU_DENIED, "gpus.default", &j->policy->fallback_place,
                    "the container asked for all GPUs, and has not got all of %s",
                    j->policy->names.text);
    j->out->keep = keep;
    return rule(j, GPU_STRIPPED, "gpus.default", &j->policy->fallback_place,
                "all GPUs were asked for, perhaps by the image; the container keeps %s",
                set.count ? j->policy->names.text : "none");
}

/* ---- nodes ---- */

/*
 * True if the container asked for all GPUs, and got each one of this host. One that has fewer has
 * them by another way, such as a device of its command line.
 */
static bool got_all(const struct judge *j)
{
    const struct gpu_facts *facts = j->facts;

    return facts->asked_all && !facts->request.count && facts->nodes.used &&
           facts->nodes.card_count >= facts->host.card_count;
}

/* Sets *set to the GPUs of the nodes, unless that is decided otherwise. */
static int judge_nodes(struct judge *j, struct gpu_set *set)
{
    const struct gpu_nodes *nodes = &j->facts->nodes;

    if (nodes->all && !j->policy->allow_all)
        return rule(j, GPU_DENIED, "gpus.all", &j->policy->all_place,
                    "the container could use all GPUs of this host: %s", nodes->all);
    if (nodes->all)
        return judge_every(j, nodes->all);
    if (got_all(j) && !j->policy->allow_all)
        return strip_to_default(j);
    if (nodes->used && allows_none(j->policy))
        return deny_every(j);
    return gpu_set_of_nodes(j->facts, j->arena, set, j->err);
}

/* ---- requests ---- */

static int deny_unknown(struct judge *j, const struct gpu_wish *wish)
{
    _cleanup_buf_ struct buf name = BUF_INIT;

    buf_put_printable(&name, wish->name.text, strnlen(wish->name.text, 100));
    if (name.failed)
        return err_nomem(j->err);
    return rule(
        j, GPU_DENIED, "gpus", &j->policy->place,
        "'%s' (%.200s) is not known to be a GPU; ask by number (0), MIG device (0:1) or UUID "
        "(GPU-…, MIG-…)",
        name.data ? name.data : "", wish->carrier);
}

/* Decides on a wish for all GPUs, and on one for none where even the driver's nodes are denied. */
static int judge_word(struct judge *j, const struct gpu_wish *wish)
{
    if (wish->name.kind == GPU_NAME_NONE) {
        if (!allows_none(j->policy))
            return 0;
        if (!wish->variable)
            return deny_every(j);
        j->out->value = "void";
        return rule(j, GPU_REWRITTEN, "gpus", &j->policy->place,
                    "no GPU is allowed, nor what comes with one");
    }
    if (j->policy->allow_all)
        return judge_every(j, "the container asks for all GPUs of this host");
    if (wish->variable)
        return give_default(j);
    return rule(j, GPU_DENIED, "gpus.all", &j->policy->all_place,
                "the container asks for all GPUs (%.200s); ask for some by number", wish->carrier);
}

/* Judges one wish; a name of a certain GPU is added to the set. */
static int judge_wish(struct judge *j, const struct gpu_wish *wish, struct gpu_set *set)
{
    switch (wish->name.kind) {
    case GPU_NAME_UNKNOWN:
        return deny_unknown(j, wish);
    case GPU_NAME_NOTHING:
        return 0;
    case GPU_NAME_NONE:
    case GPU_NAME_ALL:
        return judge_word(j, wish);
    case GPU_NAME_INDEX:
    case GPU_NAME_UUID:
    case GPU_NAME_SLICE:
    case GPU_NAME_MIG:
        break;
    }
    return gpu_set_add_name(&j->facts->host, &wish->name, j->arena, set, j->err);
}

/* Adds what is asked for to the set. *rewritten: the ruling on the variable, if it is rewritten. */
static int judge_request(struct judge *j, struct gpu_set *set, struct gpu_ruling *rewritten)
{
    const struct gpu_request *request = &j->facts->request;

    if (request->more)
        return rule(j, GPU_DENIED, "gpus", &j->policy->place,
                    "%.200s asks for devices other than GPUs, which cannot be judged before %.200s "
                    "gives them",
                    request->more, j->facts->later);
    if (request->too_many)
        return rule(j, GPU_DENIED, "gpus", &j->policy->place, "more than %d GPUs are asked for",
                    GPU_WISHES);
    for (size_t i = 0; i < request->count; i++) {
        if (judge_wish(j, &request->list[i], set) < 0)
            return -1;
        if (j->out->outcome == GPU_DENIED)
            return 0;
        if (j->out->outcome == GPU_REWRITTEN)
            *rewritten = *j->out;
    }
    return 0;
}

int gpu_judge(const struct policy_gpus *policy, const struct gpu_facts *facts, struct arena *arena,
              struct gpu_ruling *out, struct err *err)
{
    struct judge j = {.policy = policy, .facts = facts, .arena = arena, .out = out, .err = err};
    struct gpu_ruling rewritten = {0};
    struct gpu_set set = {0};

    *out = (struct gpu_ruling){.key = "gpus", .place = &policy->place};
    if (judge_nodes(&j, &set) < 0)
        return -1;
    if (out->outcome == GPU_DENIED || out->outcome == GPU_STRIPPED)
        return 0;
    if (judge_request(&j, &set, &rewritten) < 0)
        return -1;
    if (out->outcome == GPU_DENIED)
        return 0;
    /* The variable is rewritten for itself: nodes and other carriers are judged all the same. */
    if (judge_set(&j, &set) < 0)
        return -1;
    if (out->outcome != GPU_DENIED && rewritten.outcome == GPU_REWRITTEN)
        *out = rewritten;
    return 0;
}
