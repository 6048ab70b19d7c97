#include "tests/unit/lib/unit.h"

#include "shim/admin/start/config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* ---- statistics and verdicts ---- */

static void set_runs(struct start_result *r, enum start_root root, const double seconds[5])
{
    r->runs = 5;
    r->measured[START_WARM][root] = true;
    memcpy(r->seconds[START_WARM][root], seconds, 5 * sizeof(*seconds));
}

static struct start_summary summary_of(const double overlay[5], const double other[5])
{
    static struct start_result r;
    struct start_summary s;

    memset(&r, 0, sizeof(r));
    set_runs(&r, START_OVERLAY, overlay);
    set_runs(&r, START_RESTACKED, other);
    start_summarize(&r, START_WARM, START_RESTACKED, &s);
    return s;
}

static void test_summary(void **state)
{
    static const double overlay[] = {2.4, 2.0, 2.1, 2.2, 1.9}, other[] = {0.9, 5.0, 1.0, 1.1, 1.05};
    struct start_summary s = summary_of(overlay, other);

    (void)state;
    assert_float_equal(s.median, 1.05, 1e-9);
    assert_float_equal(s.low, 1.0, 1e-9);
    assert_float_equal(s.high, 1.1, 1e-9); /* one bad run is no noise */
    assert_float_equal(s.ratio, 2.0, 1e-9);
    assert_int_equal(s.verdict, START_WORTH);
}

static void test_verdicts(void **state)
{
    static const double calm[] = {1, 1, 1, 1, 1}, near[] = {0.96, 0.96, 0.96, 0.96, 0.96},
                        enough[] = {0.94, 0.94, 0.94, 0.94, 0.94},
                        slower[] = {1.2, 1.2, 1.2, 1.2, 1.2}, loud[] = {0.5, 0.6, 0.8, 1.1, 1.3},
                        restless[] = {0.7, 0.8, 1, 1.2, 1.4};

    (void)state;
    assert_int_equal(summary_of(calm, enough).verdict, START_WORTH);
    assert_int_equal(summary_of(calm, near).verdict, START_NOT_WORTH); /* below 5 % */
    assert_int_equal(summary_of(calm, slower).verdict, START_NOT_WORTH);
    assert_int_equal(summary_of(calm, loud).verdict, START_NOT_WORTH);       /* its own noise */
    assert_int_equal(summary_of(restless, enough).verdict, START_NOT_WORTH); /* the overlay's */
    assert_int_equal(summary_of(calm, calm).verdict, START_NOT_WORTH);
}

static void test_limit(void **state)
{
    static const double seconds[] = {1, 2, 3, 4, 5}, fast[] = {1, 1, 1, 1, 1};
    static struct start_result r;
    struct start_report report = {.image = "i", .limit = 3, .chosen = START_OVERLAY};

    (void)state;
    set_runs(&r, START_OVERLAY, seconds);
    set_runs(&r, START_RESTACKED, fast);
    assert_false(start_exceeds(&report, &r)); /* equal is within */
    report.limit = 2.999;
    assert_true(start_exceeds(&report, &r));
    report.chosen = START_RESTACKED;
    assert_false(start_exceeds(&report, &r));
    report.limit = 0;
    assert_false(start_exceeds(&report, &r));
    report = (struct start_report){.image = "i", .limit = 3, .chosen = START_OVERLAY};
    r.measured[START_COLD][START_OVERLAY] = true; /* cold is what --limit judges then */
    for (int i = 0; i < 5; i++)
        r.seconds[START_COLD][START_OVERLAY][i] = 9;
    assert_true(start_exceeds(&report, &r));
}

/* ---- config.json ---- */

static struct json_doc *config_of(const struct start_options *o, uint32_t uid, bool volumes)
{
    const struct image_user user = {uid, 7};
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;

    assert_int_equal(start_config_put(o, &user, volumes, &text, &err), 0);
    struct json_doc *doc = json_parse_buf(&text, NULL, &err);
    assert_non_null(doc);
    return doc;
}

static const struct json *process_of(struct json_doc *doc)
{
    return json_get(json_root(doc), "process");
}

static void test_config(void **state)
{
    static const char image_text[] =
        "{\"Env\":[\"A=b c\",\"PATH=/x\",\"TORCH_HOME=/image\"],\"Entrypoint\":[\"/entry\"],"
        "\"Cmd\":[\"cmd\"],\"WorkingDir\":\"/work\"}";
    static const char *const command[] = {"run", "it"};
    static const struct start_volume volumes[] = {{"/srv/torch", "/c/torch", false, "TORCH_HOME"},
                                                  {"/srv/x", "/c/x", true, NULL}};
    struct err err = ERR_INIT;
    struct engine_image image = {0};
    const struct start_options o = {
        .image = &image, .command = command, .words = 2, .volumes = volumes, .volume_count = 2};
    struct json_doc *parsed = json_parse(image_text, sizeof(image_text) - 1, NULL, &err);

    assert_non_null(parsed);
    engine_image_set(&image, parsed, json_root(parsed));

    (void)state;
    _cleanup_json_ struct json_doc *plain = config_of(&o, 1000, false);
    const struct json *p = process_of(plain);
    assert_string_equal(json_text(json_at(json_get(p, "args"), 0)), "/entry");
    assert_string_equal(json_text(json_at(json_get(p, "args"), 1)), "run");
    assert_int_equal(json_count(json_get(p, "args")), 3);
    assert_string_equal(json_text(json_get(p, "cwd")), "/work");
    assert_string_equal(json_text(json_at(json_get(p, "env"), 0)), "A=b c");
    assert_int_equal(json_count(json_get(p, "env")), 3);
    assert_null(json_path(p, "capabilities", "effective", NULL)); /* of a user who is not root */
    size_t mounts = json_count(json_get(json_root(plain), "mounts"));

    _cleanup_json_ struct json_doc *with = config_of(&o, 0, true);
    const struct json *list = json_get(json_root(with), "mounts");
    assert_int_equal(json_count(list), mounts + 2);
    assert_string_equal(json_text(json_get(json_at(list, mounts), "source")), "/srv/torch");
    assert_string_equal(json_text(json_at(json_get(json_at(list, mounts), "options"), 1)), "ro");
    assert_string_equal(json_text(json_at(json_get(json_at(list, mounts + 1), "options"), 1)),
                        "rw");
    assert_string_equal(json_text(json_at(json_get(process_of(with), "env"), 2)),
                        "TORCH_HOME=/c/torch");
    assert_int_equal(json_count(json_get(process_of(with), "env")), 3); /* each variable once */
    assert_non_null(json_path(process_of(with), "capabilities", "effective", NULL));
    engine_image_free(&image);
}

/* ---- users ---- */

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_user(void **state)
{
    char dir[] = "/tmp/fb-start.XXXXXX", etc[64], path[128];
    struct image_user user;
    struct err err = ERR_INIT;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(etc, sizeof(etc), "%s/etc", dir);
    assert_int_equal(mkdir(etc, 0755), 0);
    write_file(etc, "passwd", "root:x:0:0::/:\nlab:x:1234:56::/home/lab:\n");
    write_file(etc, "group", "many:x:77:lab\n");
    assert_int_equal(image_user_find(dir, "", &user, &err), 0);
    assert_int_equal(user.uid, 0);
    assert_int_equal(image_user_find(dir, "lab", &user, &err), 0);
    assert_true(user.uid == 1234 && user.gid == 56);
    assert_int_equal(image_user_find(dir, "1234", &user, &err), 0);
    assert_int_equal(user.gid, 56);
    assert_int_equal(image_user_find(dir, "99:many", &user, &err), 0);
    assert_true(user.uid == 99 && user.gid == 77);
    assert_int_equal(image_user_find(dir, "lab:5", &user, &err), 0);
    assert_true(user.uid == 1234 && user.gid == 5);
    assert_int_equal(image_user_find(dir, "nobody", &user, &err), -1);
    assert_int_equal(err.kind, ERR_FORMAT);
    assert_int_equal(image_user_find(dir, "1:nothing", &user, &err), -1);
    /* A link of the image leads to the image's files: the host's passwd has root, too. */
    snprintf(path, sizeof(path), "%s/passwd", etc);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/etc/group", path), 0);
    assert_int_equal(image_user_find(dir, "root", &user, &err), -1);
    unlink(path);
    snprintf(path, sizeof(path), "%s/group", etc);
    unlink(path);
    rmdir(etc);
    rmdir(dir);
}

UNIT_SUITE(test_start)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary), cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_limit),   cmocka_unit_test(test_config),
        cmocka_unit_test(test_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
