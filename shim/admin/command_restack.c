#include "shim/admin/commands.h"

#include "base/cli/columns.h"
#include "base/cli/log.h"
#include "base/human.h"
#include "shim/admin/engine/engine_image.h"
#include "shim/admin/leftovers/named_cache.h"
#include "shim/admin/leftovers/restack_list.h"
#include "shim/host/trust.h"
#include "shim/restack/build/restack_build.h"

#include <string.h>
#include <time.h>

enum { MEMORY_LIMIT = 1024 * 1024 * 1024 };

struct restack_command {
    const char *cache, *containerd;
    bool status, build, force, json;
};

#define FIELD(name) offsetof(struct restack_command, name)
static const struct option_spec restack_options[] = {
    {"status", 0, OPTION_FLAG, FIELD(status), NULL, NULL,
     "list the trees in the cache; the default"},
    {"build", 0, OPTION_FLAG, FIELD(build), NULL, NULL,
     "build the tree of an image, or of layers, before the first container"},
    {"force", 0, OPTION_FLAG, FIELD(force), NULL, NULL, "with --build: also if it would not pay"},
    {"cache", 0, OPTION_FILE, FIELD(cache), "DIR", NULL,
     "the cache; by default the policy's rootfs.cache, or " RESTACK_CACHE},
    {"containerd", 0, OPTION_FILE, FIELD(containerd), "SOCKET", NULL,
     "with --build: also ask the containerd at this socket"},
    {"json", 0, OPTION_FLAG, FIELD(json), NULL, NULL, "print it as JSON"},
    {0},
};

const struct command_spec command_restack_spec = {
    .program = "flatbed",
    .name = "restack",
    .operands = "[IMAGE | LAYER[:LAYER...]...]",
    .summary = "List, or build, trees of merged layers.",
    .details =
        "If a policy says \"beyond\": \"restack\", a container's root of many layers is mounted\n"
        "with one: a tree of hard links, built once for an image. IMAGE is one that docker,\n"
        "podman or containerd has; LAYER is an unpacked layer's directory, the topmost first.\n",
    .options = restack_options,
    .max_operands = -1,
    .completes = OPERANDS_FILES,
};

/* ---- status ---- */

static void put_time(struct buf *out, int64_t seconds)
{
    time_t when = seconds;
    struct tm local;
    char text[32];

    if (localtime_r(&when, &local) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local))
        buf_puts(out, text);
}

/* Returns the number as text in the arena; NULL without memory. */
static const char *number_text(uint64_t value, struct arena *arena)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

    return arena_strndup(arena, text, (size_t)len);
}

static int fill_row(const struct restack_item *item, struct arena *arena, struct columns_row *row,
                    struct err *err)
{
    _cleanup_buf_ struct buf used = BUF_INIT;
    char size[HUMAN_SIZE];

    put_time(&used, item->used);
    if (buf_check(&used, err) < 0)
        return -1;
    *row = (struct columns_row){
        .cells = {item->state, number_text(item->layers, arena), number_text(item->files, arena),
                  item->lookups,
                  arena_strndup(arena, human_size_binary(item->bytes, size), strlen(size)),
                  used.data ? arena_strndup(arena, used.data, used.len) : NULL,
                  item->mounted ? "yes" : NULL, item->why ? item->why : item->layer}};
    return 0;
}

static int print_list(const struct restack_list *list, struct arena *arena, struct err *err)
{
    enum { COLUMNS = 8 };
    _cleanup_buf_ struct buf out = BUF_INIT;
    struct columns_row *rows = arena_alloc(arena, (list->count + 1) * sizeof(*rows));

    if (!rows)
        return err_nomem(err);
    rows[0] = (struct columns_row){.cells = {"STATE", "LAYERS", "FILES", "LOOKUPS", "SIZE", "USED",
                                             "IN USE", "TOP LAYER OR REASON"}};
    for (size_t i = 0; i < list->count; i++)
        if (fill_row(&list->items[i], arena, &rows[i + 1], err) < 0)
            return -1;
    columns_print(rows, list->count + 1, COLUMNS, columns_of_terminal(STDOUT_FILENO), &out);
    return program_print(&out, err);
}

static int print_json(const struct restack_cache *cache, const struct restack_list *list,
                      struct err *err)
{
    _cleanup_json_ struct json_doc *doc = json_new_object(err);
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (!doc)
        return -1;
    if (cache->path)
        json_set(doc, json_root(doc), "cache", json_string(doc, cache->path));
    struct json *items = json_set(doc, json_root(doc), "trees", json_array(doc));
    for (size_t i = 0; i < list->count; i++)
        json_append(doc, items, named_cache_item(&list->items[i], doc));
    if (json_write(doc, &out, err) < 0)
        return -1;
    buf_putc(&out, '\n');
    return program_print(&out, err);
}

static int print_status(const struct restack_command *c, struct arena *arena, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    struct restack_list list = {0};

    if (named_cache_open(c->cache, false, &cache, err) < 0 ||
        (cache.fd >= 0 && restack_list_read(&cache, arena, &list, err) < 0))
        return -1;
    return c->json ? print_json(&cache, &list, err) : print_list(&list, arena, err);
}

/* ---- build ---- */

static int print_built(const struct restack_command *c, const struct chain *chain,
                       const struct restack_built *built, struct err *err)
{
    _cleanup_buf_ struct buf out = BUF_INIT;

    if (c->json) {
        buf_printf(&out, "{\"key\":\"%s\",\"ready\":%s,\"layers\":%zu,\"files\":%llu,", chain->key,
                   built->ready ? "true" : "false", chain->count, (unsigned long long)built->files);
        buf_printf(&out, "\"lookups\":%.2f,\"seconds\":%.3f", built->lookups, built->seconds);
        if (built->why) {
            buf_puts(&out, ",\"why\":");
            json_quote(&out, built->why, strlen(built->why));
        }
        buf_puts(&out, "}\n");
    } else if (built->ready) {
        buf_printf(&out, "%zu layer%s with %llu file%s, %.1f lookups for each: a tree, in %.1f s\n",
                   chain->count, human_s(chain->count), (unsigned long long)built->files,
                   human_s(built->files), built->lookups, built->seconds);
    } else {
        log_warning("%s", built->why);
    }
    return program_print(&out, err) < 0 ? -1 : !built->ready;
}

static int build_tree(const struct restack_command *c, const struct operands *operands,
                      struct arena *arena, struct err *err)
{
    _cleanup_restack_cache_ struct restack_cache cache = RESTACK_CACHE_INIT;
    struct restack_entry entry = RESTACK_ENTRY_INIT;
    struct restack_built built = {.ready = true};
    _cleanup_engine_image_ struct engine_image image = {0};
    struct chain chain;

    if (trust_rootless())
        return err_set(err, ERR_UNSUPPORTED, "only root can make trees of layers");
    for (int i = 0; i < operands->count; i++)
        if (engine_image_read(operands->list[i], c->containerd, arena, &image, err) < 0)
            return -1;
    if (chain_of_paths(image.layers, image.count, false, arena, &chain, err) < 0 ||
        named_cache_open(c->cache, true, &cache, err) < 0 ||
        restack_cache_find(&cache, &chain, arena, &entry, err) < 0)
        return -1;
    bool ready = entry.state == RESTACK_READY;
    cleanup_fd(&entry.fd);
    if (!ready && restack_build(&cache, &chain, c->force, arena, &built, err) < 0)
        return -1;
    if (ready && !c->json) {
        log_info("the tree is there already");
        return 0;
    }
    return print_built(c, &chain, &built, err);
}

int command_restack(int argc, char *const argv[], bool *help, struct err *err)
{
    _cleanup_arena_ struct arena arena = {.limit = MEMORY_LIMIT};
    struct restack_command c = {0};
    struct operands operands = {0};
    int rc = options_parse(&command_restack_spec, argc, argv, &c, &operands, help, err);

    if (rc == 0 && !*help) {
        if (c.status && c.build)
            rc = err_set(err, ERR_USAGE, "either --status or --build");
        else if (c.build == !operands.count)
            rc = err_set(err, ERR_USAGE,
                         c.build ? "--build needs an image, or layers"
                                 : "an image goes with --build");
        else
            rc = c.build ? build_tree(&c, &operands, &arena, err) : print_status(&c, &arena, err);
    }
    free(operands.list);
    return rc;
}
