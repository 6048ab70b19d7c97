/* The directories of engines as values, and the files in them that they mount by themselves. */
#include "tests/unit/lib/shim_unit.h"

#include "shim/gather/engine/engine.h"

static void test_where_engines_mount_for_users(void **state)
{
    static const struct {
        const char *root, *path;
        bool unsteady;
    } rows[] = {
        {"/d/docker/overlay2/1/merged", "/d/docker/volumes/v/_data", true},
        {"/d/docker/overlay2/1/merged", "/d/docker/volumes/v/_data/deep", true},
        {"/d/docker/overlay2/1/merged", "/d/docker/volumes", true},
        {"/d/docker/overlay2/1/merged", "/d", true},
        {"/d/docker/overlay2/1/merged", "/", true},
        {"/d/docker/overlay2/1/merged", "/d/docker/overlay2", true},
        {"/d/docker/overlay2/1/merged", "/d/docker/containers/1/hosts", false},
        {"/d/docker/overlay2/1/merged", "/d/other", false},
        {"/d/docker/overlay2/1/merged", "/var/lib/docker/volumes/v", true},
        {"/d/vfs/storage/overlay/1/merged", "/d/vfs/storage/volumes/v/_data", true},
        {"/d/vfs/storage/overlay/1/merged", "/d/volumes", false},
        {"rootfs", "/d/volumes", false},
        {"rootfs", "/var/lib/containers", true},
        {"/srv/rootfs", "/srv", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *text = strf("{\"root\":{\"path\":\"%s\"}}", rows[i].root);
        _cleanup_json_ struct json_doc *doc = shim_document(text);
        struct engine_directories engine;
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(engine_directories_find(&spec, "/b", "1", &arena, &engine, &err), err);
        if (engine_is_unsteady(&engine, rows[i].path) != rows[i].unsteady)
            fail_msg("row %zu: %s", i, rows[i].path);
    }
}

static void test_what_engines_mount(void **state)
{
    static const struct {
        const char *path;
        bool mounted;
        const char *state;
    } rows[] = {
        {"/var/lib/docker/containers/1/resolv.conf", true, NULL},
        {"/var/lib/docker/containers/1/hosts", true, NULL},
        {"/var/lib/docker/containers/1/mounts/shm", true, NULL},
        {"/var/lib/docker/containers/1/config.v2.json", false, "/var/lib/docker/containers"},
        {"/var/lib/docker/containers/1", false, "/var/lib/docker/containers"},
        {"/var/lib/docker/containers", false, "/var/lib/docker/containers"},
        {"/var/lib/docker/volumes/v/_data", true, NULL},
        {"/var/lib/docker/volumes/v/_data/deep", true, NULL},
        {"/var/lib/docker/volumes/v", false, "/var/lib/docker/volumes"},
        {"/var/lib/docker/image", false, "/var/lib/docker"},
        {"/var/lib/docker", false, "/var/lib/docker"},
        {"/d/docker/containers/1/hostname", true, NULL},
        {"/d/docker/containers/1/x", false, "/d/docker/containers"},
        {"/d/docker/volumes/v/_data", true, NULL},
        {"/d/docker/overlay2/1/merged", false, "/d/docker/overlay2"},
        {"/d/docker", false, NULL},
        {"/run/containerd/containerd.sock", false, "/run/containerd"},
        {"/run/containerd/io.containerd.grpc.v1.cri/sandboxes/1/shm", true, NULL},
        {"/run/containers/storage/overlay-containers/1/userdata/hosts", true, NULL},
        {"/var/lib/kubelet/pods/1/etc-hosts", true, NULL},
        {"/var/lib/kubelet/pods/1/volumes", false, "/var/lib/kubelet/pods"},
        {"/var/lib/kubelet/pki", false, "/var/lib/kubelet"},
        {"/srv/data", false, NULL},
    };
    static const char text[] = "{\"root\":{\"path\":\"/d/docker/overlay2/1/merged\"}}";
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_json_ struct json_doc *doc = shim_document(text);
    struct engine_directories engine;
    struct err err = ERR_INIT;
    struct spec spec;

    (void)state;
    assert_works(spec_read(doc, &arena, &spec, &err), err);
    assert_works(engine_directories_find(&spec, "/b", "1", &arena, &engine, &err), err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct engine_place place = engine_find_place(&engine, rows[i].path);
        if (place.mounted != rows[i].mounted || !place.state != !rows[i].state ||
            (place.state && strcmp(place.state, rows[i].state) != 0))
            fail_msg("%s: %d, %s", rows[i].path, place.mounted, place.state);
    }
}

#define ID    "069f8087cff1e03257a1d8f3edcbb9412f664b3189467ef71ba1e5044283ecf3"
#define OTHER "2276fee25a45fb414f756f229e0449acc7cb64f4e607f3f171b152bcaf7fdff6"
#define MOBY  "/r/exec/io.containerd.runtime.v2.task/moby/" ID
#define CTR   "/run/containerd/io.containerd.runtime.v2.task/default/" ID
#define CRI   "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
#define BUILD "/d/docker/buildkit/executor/"
#define STEP  "/var/tmp/buildah81"
#define TASK  "/run/containerd/io.containerd.runtime.v2.task/"
#define POD   "6b5d0ddc-7cf1-4d0c-9f4f-6a1d3a3e7a11"
#define PODS  "/var/lib/kubelet/pods/"
#define BOXES "/run/containerd/io.containerd.grpc.v1.cri/sandboxes/"

/* The files that an engine mounts into this container by itself, by the bundle and the ID. */
static const struct {
    const char *bundle, *id, *path;
    bool own;
} own_rows[] = {
    {MOBY, ID, "/d/docker/containers/" ID "/hosts", true},
    {MOBY, ID, "/d/docker/containers/" ID "/resolv.conf", true},
    {MOBY, ID, "/d/docker/containers/" ID "/mounts/shm", true},
    {MOBY, ID, "/d/docker/containers/" ID "/mounts/secrets/x", true},
    {MOBY, ID, "/d/docker/containers/" ID "/config.v2.json", false},
    {MOBY, ID, "/d/docker/containers/" ID "/hosts.old", false},
    {MOBY, ID, "/d/docker/containers/" ID, false},
    {MOBY, ID, "/d/docker/containers/" OTHER "/hosts", false},
    {MOBY, ID, "/other/docker/containers/" ID "/mounts/shm", false},
    {MOBY, ID, "/x/d/docker/containers/" ID "/mounts/shm", false},
    {"/r/io.containerd.runtime.v2.task/moby-1.1/" ID, ID, "/d/docker/containers/" ID "/mounts/shm",
     true},
    {"/r/io.containerd.runtime.v2.task/mobyx/" ID, ID, "/d/docker/containers/" ID "/mounts/shm",
     false},
    {MOBY, "c1", "/d/docker/containers/c1/hosts", false},
    /* the users of ctr choose ID and root */
    {CTR, ID, "/d/docker/containers/" ID "/mounts/shm", false},
    {CTR, ID, "/var/lib/nerdctl/1/containers/default/" ID "/resolv.conf", true},
    {CTR, ID, "/var/lib/nerdctl/1/etchosts/default/" ID "/hosts", true},
    {"/g/overlay-containers/" ID "/userdata", ID, "/g/overlay-containers/" ID "/userdata/shm",
     true},
    {"/g/overlay-containers/" ID "/userdata", ID,
     "/run/c/overlay-containers/" ID "/userdata/.containerenv", true},
    {"/g/overlay-containers/" ID "/userdata", ID,
     "/run/c/overlay-containers/" ID "/userdata/run/secrets", true},
    {"/g/overlay-containers/" ID "/userdata", ID, "/g/overlay-containers/" ID "/userdata/notify",
     true},
    {"/g/overlay-containers/" ID "/userdata", ID,
     "/g/overlay-containers/" ID "/userdata/config.json", false},
    {"/g/overlay-containers/" ID "/userdata", ID,
     "/g/overlay-containers/" ID "/userdata/overlay/1/merge", false},
    {"/g/overlay-containers/" ID "/userdata", ID, "/g/overlay-containers/" OTHER "/userdata/shm",
     false},
    {"/g/overlay-containers/" OTHER "/userdata", ID, "/g/overlay-containers/" OTHER "/userdata/shm",
     false},
    {"/g/overlay/" ID "/userdata", ID, "/g/overlay/" ID "/userdata/shm", false},
    {CRI, ID, BOXES OTHER "/shm", true},
    {CRI, ID, BOXES OTHER "/resolv.conf", true},
    {CRI, ID, BOXES OTHER "/state.json", false},
    {CRI, ID, PODS POD "/etc-hosts", true},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~empty-dir/x", true},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~configmap/x/..data/key", true},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~csi/x/mount", true},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~csi/x/mount/part", true},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~csi/x/vol_data.json", false},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~csi/x/mounts", false},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~csi/x", false},
    {CRI, ID, PODS POD "/volumes/kubernetes.io~empty-dir", false},
    {CRI, ID, PODS POD "/volumes", false},
    {CRI, ID, PODS POD "/volume-subpaths/x/train/0", true},
    {CRI, ID, PODS POD "/volume-subpaths/x/train", false},
    {CRI, ID, PODS POD "/containers/train/1a2b", true},
    {CRI, ID, PODS POD "/containers/train", false},
    {CRI, ID, PODS POD "/containers/train/1a2b/x", false},
    {CRI, ID, PODS POD "/etc-hosts2", false},
    {CRI, ID, PODS POD "/plugins/x/y", false},
    {CRI, ID, PODS POD, false},
    {CRI, ID, PODS "other/etc-hosts", false},
    {CRI, ID, "/srv/" POD "/etc-hosts", false},
    {BUILD "x7f", "x7f", BUILD "resolv.conf", true},
    {BUILD "x7f", "x7f", BUILD "resolv-host.conf", true},
    {BUILD "x7f", "x7f", BUILD "hosts", true},
    {BUILD "x7f", "x7f", BUILD "hosts.p2", true},
    {BUILD "x7f", "x7f", BUILD "x7f/config.json", false},
    {BUILD "x7f", "x7f", BUILD "hosts.p2/x", false},
    {BUILD "x7f", "x7f", "/other/executor/hosts", false},
    {MOBY, ID, BUILD "resolv.conf", false},
    {"/d/executors/x7f", "x7f", "/d/executors/hosts", false},
    {"/r/io.containerd.runtime.v2.task/executor/x", "x",
     "/r/io.containerd.runtime.v2.task/executor/hosts", false},
    {STEP, "buildah-buildah81", STEP "/hosts", true},
    {STEP, "buildah-buildah81", STEP "/run/.containerenv", true},
    {STEP, "buildah-buildah81", STEP "/config.json", false},
    {STEP, "buildah-buildah81", STEP "2/hosts", false},
    {"/d/buildah", "x", "/d/buildah/hosts", false},
    {"/d/buildah7x", "x", "/d/buildah7x/hosts", false},
    {TASK "default/buildah81", "buildah81", TASK "default/buildah81/hosts", false},
    /* a user of Docker may set these annotations */
    {MOBY, ID, BOXES OTHER "/shm", false},
    {MOBY, ID, PODS POD "/etc-hosts", false},
};

static void test_the_engines_own(void **state)
{
    static const char text[] =
        "{\"root\":{\"path\":\"/d/docker/overlay2/1/merged\"},\"annotations\":{"
        "\"io.kubernetes.cri.sandbox-id\":\"" OTHER "\",\"io.kubernetes.cri.sandbox-uid\":\"" POD
        "\"}}";

    (void)state;
    for (size_t i = 0; i < sizeof(own_rows) / sizeof(*own_rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_json_ struct json_doc *doc = shim_document(text);
        struct engine_directories engine;
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(engine_directories_find(&spec, own_rows[i].bundle, own_rows[i].id, &arena,
                                             &engine, &err),
                     err);
        if (engine_mounts(&engine, own_rows[i].path) != own_rows[i].own)
            fail_msg("%s: %s", own_rows[i].bundle, own_rows[i].path);
    }
}

/*
 * The annotations and paths are as the sources of CRI-O (internal/factory/container, commit
 * 03c46e4007) have them; nothing here was recorded.
 */
static void test_the_pods_files_under_crio(void **state)
{
    static const char text[] =
        "{\"root\":{\"path\":\"/var/lib/containers/storage/overlay/1/merged\"},\"annotations\":{"
        "\"io.kubernetes.cri-o.SandboxID\":\"" OTHER "\",\"io.kubernetes.pod.uid\":\"" POD "\"}}";
    static const char run[] = "/run/containers/storage/overlay-containers/";
    static const struct {
        const char *of, *name;
        bool crio, podman; /* with the bundle of either */
    } rows[] = {
        {run, OTHER "/userdata/resolv.conf", true, false},
        {run, OTHER "/userdata/hostname", true, false},
        {run, OTHER "/userdata/shm", true, false},
        {run, OTHER "/userdata/config.json", false, false},
        {run, OTHER, false, false},
        {run, ID "/userdata/.containerenv", true, true},
        {run, ID "/userdata/passwd", true, true},
        {"/var/lib/kubelet/pods/", POD "/etc-hosts", true, false},
        {"/var/lib/kubelet/pods/", "other/etc-hosts", false, false},
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
        bool podman = i % 2, own = podman ? rows[i / 2].podman : rows[i / 2].crio;
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_json_ struct json_doc *doc = shim_document(text);
        _cleanup_free_ char *bundle = strf(
            "%s" ID "/userdata", podman ? "/var/lib/containers/storage/overlay-containers/" : run);
        _cleanup_free_ char *path = strf("%s%s", rows[i / 2].of, rows[i / 2].name);
        struct engine_directories engine;
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(engine_directories_find(&spec, bundle, ID, &arena, &engine, &err), err);
        if (engine_mounts(&engine, path) != own)
            fail_msg("%s: %s", bundle, path);
    }
}

/* Everything else in the directories that the bundle and the root show is the engine's state. */
static void test_directories_are_found(void **state)
{
    static const struct {
        const char *bundle, *root, *path, *state;
        bool volume;
    } rows[] = {
        {MOBY, "/d/overlay2/1/merged", "/d", "/d", false},
        {MOBY, "/d/overlay2/1/merged", "/d/image/x", "/d", false},
        {MOBY, "/d/overlay2/1/merged", "/d/volumes/v/_data", NULL, true},
        {MOBY, "/d/overlay2/1/merged", "/d/volumes/v", "/d/volumes", false},
        {MOBY, "/d/overlay2/1/merged", "/r/exec/containerd.sock", "/r/exec", false},
        {MOBY, "/d/overlay2/1/merged", "/r/execs", NULL, false},
        {"/g/vfs-containers/" ID "/userdata", "/home/a/vfs/x", "/g/vfs-containers/1", "/g", false},
        {"/g/vfs-containers/" ID "/userdata", "/home/a/vfs/x", "/g/volumes/v/_data", NULL, true},
        {"/g/vfs-containers/" ID "/userdata", "/home/a/vfs/x", "/home/a/volumes/v/_data", NULL,
         false},
        {CTR, "rootfs", "/run/containerd/x", "/run/containerd", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        _cleanup_arena_ struct arena arena = {0};
        _cleanup_free_ char *text = strf("{\"root\":{\"path\":\"%s\"}}", rows[i].root);
        _cleanup_json_ struct json_doc *doc = shim_document(text);
        struct engine_place place;
        struct engine_directories engine;
        struct err err = ERR_INIT;
        struct spec spec;
        assert_works(spec_read(doc, &arena, &spec, &err), err);
        assert_works(engine_directories_find(&spec, rows[i].bundle, ID, &arena, &engine, &err),
                     err);
        place = engine_find_place(&engine, rows[i].path);
        if (!place.state != !rows[i].state || place.volume != rows[i].volume ||
            (place.state && strcmp(place.state, rows[i].state) != 0))
            fail_msg("%s: %s, %d", rows[i].path, place.state, place.volume);
    }
}

UNIT_SUITE(test_engine_places)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_engines_mount_for_users),
        cmocka_unit_test(test_what_engines_mount),
        cmocka_unit_test(test_the_engines_own),
        cmocka_unit_test(test_the_pods_files_under_crio),
        cmocka_unit_test(test_directories_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
