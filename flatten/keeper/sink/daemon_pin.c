#include "flatten/keeper/sink/daemon_pin.h"

#include "flatten/keeper/sink/daemon_import.h"
#include "flatten/keeper/sink/sink_backends.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

/* Appends the configuration (image-spec config.md). The label needs no escaping in JSON. */
static int put_config(const struct digest_list *diff_ids, const char *label, struct buf *out,
                      struct err *err)
{
    const char *value = strchr(label, '=');
    time_t now = time(NULL);
    struct tm tm;
    char created[32];

    if (!value || !gmtime_r(&now, &tm) ||
        strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        return err_set(err, ERR_FORMAT, "no label or no time");
    buf_printf(out,
               "{\"architecture\":\"amd64\",\"os\":\"linux\",\"created\":\"%s\",\"comment\":\"%s\","
               "\"config\":{\"Labels\":{\"%.*s\":\"%s\"}},"
               "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[",
               created, DAEMON_IMPORT_MESSAGE, (int)(value - label), label, value + 1);
    for (size_t i = 0; i < diff_ids->count; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "", diff_ids->list[i].text);
    buf_puts(out, "]}}");
    return buf_check(out, err);
}

/* Loads an archive without layers. */
static int load_config(struct engine *e, const struct blob *config,
                       const struct written_layer *layers, size_t count, struct err *err)
{
    const struct sink_image image = {
        .config = *config, .manifest = *config, .layers = layers, .layer_count = count};
    int fd = memfd_create("archive", MFD_CLOEXEC);
    _cleanup_sink_ struct sink *archive = fd < 0 ? NULL : sink_open_unnamed(fd, err);
    struct stat st;

    if (fd < 0)
        return err_sys(err, "memfd");
    if (!archive || sink_publish(archive, &image, 1, err) < 0)
        return -1;
    if (fstat(fd, &st) < 0)
        return err_sys(err, "memfd");
    return engine_load(e, fd, (uint64_t)st.st_size, err);
}

int daemon_pin_layers(struct engine *e, const struct digest_list *diff_ids, const char *label,
                      struct digest *id, struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_free_ struct written_layer *layers = calloc(diff_ids->count + 1, sizeof(*layers));

    *id = (struct digest){0};
    if (!layers)
        return err_nomem(err);
    for (size_t i = 0; i < diff_ids->count; i++)
        layers[i].diff_id = layers[i].digest = diff_ids->list[i];
    if (put_config(diff_ids, label, &text, err) < 0 ||
        sha256_digest(text.data, text.len, id, err) < 0)
        return -1;
    const struct blob config = {*id, text.data, text.len};
    return load_config(e, &config, layers, diff_ids->count, err);
}
