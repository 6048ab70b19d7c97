#include "shim/admin/engine/engine_image.h"

#include "shim/admin/engine/containerd_image.h"
#include "shim/host/process/child.h"

#include <stdint.h>
#include <string.h>

enum { ANSWER_BYTES = 1024 * 1024 };

static int add_layer(struct arena *arena, const char *text, size_t len, struct engine_image *out,
                     struct err *err)
{
    out->layers = arena_extend(arena, out->layers, out->count, sizeof(*out->layers));
    const char *copy = arena_strndup(arena, text, len);
    if (!out->layers || !copy)
        return err_nomem(err);
    out->layers[out->count++] = copy;
    return 0;
}

int engine_image_add(const char *list, struct arena *arena, struct engine_image *out,
                     struct err *err)
{
    for (;;) {
        size_t len = strcspn(list, ":\n");
        if (len && add_layer(arena, list, len, out, err) < 0)
            return -1;
        if (list[len] != ':')
            return 0;
        list += len + 1;
    }
}

/* Reads the second line of an answer. Without one, or if it is none, there is no configuration. */
static struct json_doc *read_config(const char *answer)
{
    const char *line = strchr(answer, '\n');
    struct err ignored;

    return line ? json_parse(line + 1, strlen(line + 1), NULL, &ignored) : NULL;
}

/* Returns 1 if the engine has the image, 0 if not. Docker and podman print it alike. */
static int ask_engine(const char *engine, const char *image, struct arena *arena,
                      struct engine_image *out, struct err *err)
{
    static const char format[] = "--format={{.GraphDriver.Data.UpperDir}}"
                                 "{{if index .GraphDriver.Data \"LowerDir\"}}"
                                 ":{{.GraphDriver.Data.LowerDir}}{{end}}\n{{json .Config}}";
    char *const argv[] = {(char *)(uintptr_t)engine,
                          (char *)(uintptr_t) "image",
                          (char *)(uintptr_t) "inspect",
                          (char *)(uintptr_t)format,
                          (char *)(uintptr_t) "--",
                          (char *)(uintptr_t)image,
                          NULL};
    char *answer = arena_alloc(arena, ANSWER_BYTES);
    struct err ignored;
    int exited;

    if (!answer)
        return err_nomem(err);
    if (access(engine, X_OK) < 0 ||
        child_output(argv, answer, ANSWER_BYTES, &exited, &ignored) < 0 || exited != 0 ||
        answer[0] != '/')
        return 0;
    struct json_doc *doc = read_config(answer);
    engine_image_set(out, doc, doc ? json_root(doc) : NULL);
    return engine_image_add(answer, arena, out, err) < 0 ? -1 : 1;
}

int engine_image_find(const char *image, const char *containerd, struct arena *arena,
                      struct engine_image *out, struct err *err)
{
    static const char *const engines[] = {"/usr/bin/docker", "/usr/local/bin/docker",
                                          "/usr/bin/podman"};

    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
        int found = ask_engine(engines[i], image, arena, out, err);
        if (found)
            return found < 0 ? -1 : 0;
    }
    int found = containerd_image_find(image, containerd, arena, out, err);
    if (found)
        return found < 0 ? -1 : 0;
    return err_set(err, ERR_USAGE,
                   "neither docker nor podman nor containerd has an image '%s' in overlay layers",
                   image);
}

int engine_image_read(const char *word, const char *containerd, struct arena *arena,
                      struct engine_image *out, struct err *err)
{
    return word[0] == '/' || word[0] == '.' ? engine_image_add(word, arena, out, err)
                                            : engine_image_find(word, containerd, arena, out, err);
}

void engine_image_set(struct engine_image *image, struct json_doc *doc, const struct json *config)
{
    engine_image_free(image);
    image->doc = doc;
    image->config = config;
}

void engine_image_free(struct engine_image *image)
{
    cleanup_json_doc(&image->doc);
    image->doc = NULL;
    image->config = NULL;
}
