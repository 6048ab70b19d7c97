#include "flatten/keeper/sink/daemon_pin.h"

#include "flatten/keeper/files/containerd_store.h"
#include "flatten/keeper/sink/daemon_import.h"
#include "flatten/keeper/sink/sink_backends.h"
#include "flatten/name/media_type.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/* ---- the image ---- */

/*
 * Appends the configuration (image-spec config.md). The label needs no escaping in JSON. A daemon
 * with containerd's store knows no comment but that of the newest layer.
 */
static int put_config(const struct daemon_pins *p, struct buf *out, struct err *err)
{
    const char *value = strchr(p->label, '=');
    time_t now = time(NULL);
    struct tm tm;
    char made[128];

    if (!value || !gmtime_r(&now, &tm) ||
        strftime(made, sizeof(made),
                 "\"created\":\"%Y-%m-%dT%H:%M:%SZ\",\"comment\":\"" DAEMON_IMPORT_MESSAGE "\"",
                 &tm) == 0)
        return err_set(err, ERR_FORMAT, "no label or no time");
    buf_printf(out,
               "{\"architecture\":\"amd64\",\"os\":\"linux\",%s,"
               "\"config\":{\"Labels\":{\"%.*s\":\"%s\"}},\"history\":[",
               made, (int)(value - p->label), p->label, value + 1);
    for (size_t i = 0; i < p->count; i++)
        buf_printf(out, "%s{%s}", i ? "," : "", made);
    buf_puts(out, "],\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[");
    for (size_t i = 0; i < p->count; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "", p->chain[i].diff_id.text);
    buf_puts(out, "]}}");
    return buf_check(out, err);
}

static void put_descriptor(struct buf *out, const char *type, const struct digest *digest,
                           uint64_t size)
{
    buf_printf(out, "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%" PRIu64 "}", type,
               digest->text, size);
}

/* Appends the manifest (image-spec manifest.md). */
static int put_manifest(const struct daemon_pins *p, const struct blob *config, struct buf *out,
                        struct err *err)
{
    buf_puts(out, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE_MANIFEST "\",\"config\":");
    put_descriptor(out, MEDIA_TYPE_CONFIG, &config->digest, config->len);
    buf_puts(out, ",\"layers\":[");
    for (size_t i = 0; i < p->count; i++) {
        buf_puts(out, i ? "," : "");
        put_descriptor(out, written_layer_media_type(&p->chain[i]), &p->chain[i].digest,
                       p->chain[i].size);
    }
    buf_puts(out, "]}");
    return buf_check(out, err);
}

/* Sets *out to what is in the buffer; borrowed. */
static int make_blob(const struct buf *text, struct blob *out, struct err *err)
{
    out->data = text->data;
    out->len = text->len;
    return sha256_digest(text->data, text->len, &out->digest, err);
}

/* Loads an archive without layers. */
static int load_documents(struct daemon_pins *p, const struct sink_image *image, struct err *err)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    _cleanup_sink_ struct sink *archive = fd < 0 ? NULL : sink_open_unnamed(fd, err);
    struct stat st;

    if (fd < 0)
        return err_sys(err, "memfd");
    if (!archive || sink_publish(archive, image, 1, err) < 0)
        return -1;
    if (fstat(fd, &st) < 0)
        return err_sys(err, "memfd");
    return engine_load(p->engine, fd, (uint64_t)st.st_size, err);
}

/* Loads an image of the chain. Its Id is noted first: a load may fail after the daemon has it. */
static int load_image(struct daemon_pins *p, struct err *err)
{
    _cleanup_buf_ struct buf config = BUF_INIT, manifest = BUF_INIT;
    struct sink_image image = {.layers = p->chain, .layer_count = p->count};

    if (put_config(p, &config, err) < 0 || make_blob(&config, &image.config, err) < 0 ||
        put_manifest(p, &image.config, &manifest, err) < 0 ||
        make_blob(&manifest, &image.manifest, err) < 0)
        return -1;
    const struct blob *id = p->docker_root ? &image.manifest : &image.config;
    if (digest_list_add(&p->ids, &id->digest, err) < 0)
        return -1;
    return load_documents(p, &image, err);
}

/* ---- layers ---- */

static bool is_stored(const struct daemon_pins *p, const struct written_layer *layer)
{
    struct err ignored = ERR_INIT;
    uint64_t size;
    _cleanup_fd_ int store =
        containerd_store_of_docker(p->docker_root, &layer->digest, &size, &ignored);

    return store >= 0 && size == layer->size;
}

/* True if the daemon can make an image of the chain. A blob that is there afterwards is held. */
static bool hold_chain(struct daemon_pins *p)
{
    const struct written_layer *newest = &p->chain[p->count - 1];
    struct err ignored = ERR_INIT;

    if (!p->docker_root)
        return load_image(p, &ignored) == 0;
    return is_stored(p, newest) && load_image(p, &ignored) == 0 && is_stored(p, newest);
}

int daemon_pins_hold(struct daemon_pins *p, size_t position, const struct written_layer *layer,
                     struct err *err)
{
    if (position == 0)
        p->count = 0;
    if (position != p->count)
        return 0;
    struct written_layer *chain = realloc(p->chain, (p->count + 1) * sizeof(*chain));
    if (!chain)
        return err_nomem(err);
    p->chain = chain;
    p->chain[p->count++] = *layer;
    if (hold_chain(p))
        return 1;
    p->count--;
    return 0;
}

void daemon_pins_clear(struct daemon_pins *p)
{
    struct err ignored = ERR_INIT;

    for (size_t i = 0; i < p->ids.count; i++)
        if (engine_remove(p->engine, p->ids.list[i].text, &ignored) < 0)
            continue; /* the daemon does not have it, or the next run tries again */
    digest_list_clear(&p->ids);
    p->ids = (struct digest_list){0};
    free(steal_ptr(&p->chain));
    p->count = 0;
}
