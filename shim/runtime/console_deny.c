#include "shim/runtime/console_deny.h"

#include "base/fdio.h"
#include "base/json/json.h"
#include "base/path.h"
#include "shim/apply/own_hook.h"
#include "shim/mount/mount_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_STATE = 1 << 20, MOST_CGROUPS = 1 << 16, CONSOLE_MAJOR = 5, CONSOLE_MINOR = 1 };

bool console_is_hook(int argc, char *const argv[])
{
    return argc == OWN_HOOK_WORDS && strcmp(argv[1], own_hook_console.option) == 0;
}

/* ---- cgroup v2 ---- */

#define LOAD(to, field)                                                                            \
    {                                                                                              \
        .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (to), .src_reg = BPF_REG_1,                  \
        .off = offsetof(struct bpf_cgroup_dev_ctx, field)                                          \
    }
#define AND(reg, value)                                                                            \
    {                                                                                              \
        .code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = (reg), .imm = (value)                        \
    }
#define SKIP_UNLESS(reg, value, count)                                                             \
    {                                                                                              \
        .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = (reg), .off = (count), .imm = (value)        \
    }
#define SET(reg, value)                                                                            \
    {                                                                                              \
        .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (reg), .imm = (value)                      \
    }
#define END                                                                                        \
    {                                                                                              \
        .code = BPF_JMP | BPF_EXIT                                                                 \
    }

/* Returns a program that denies the console, and allows all else; or -1. */
static int load_program(void)
{
    static const struct bpf_insn program[] = {
        LOAD(BPF_REG_2, access_type),
        AND(BPF_REG_2, 0xffff), /* the type; the access is above */
        SKIP_UNLESS(BPF_REG_2, BPF_DEVCG_DEV_CHAR, 6),
        LOAD(BPF_REG_2, major),
        SKIP_UNLESS(BPF_REG_2, CONSOLE_MAJOR, 4),
        LOAD(BPF_REG_2, minor),
        SKIP_UNLESS(BPF_REG_2, CONSOLE_MINOR, 2),
        SET(BPF_REG_0, 0),
        END,
        SET(BPF_REG_0, 1),
        END,
    };
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                           .insns = (uintptr_t)program,
                           .insn_cnt = sizeof(program) / sizeof(*program),
                           .license = (uintptr_t) ""};

    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach_program(const char *directory, struct err *err)
{
    _cleanup_fd_ int cgroup = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_fd_ int program = cgroup < 0 ? -1 : load_program();
    union bpf_attr attr = {.target_fd = (uint32_t)cgroup,
                           .attach_bpf_fd = (uint32_t)program,
                           .attach_type = BPF_CGROUP_DEVICE,
                           .attach_flags = BPF_F_ALLOW_MULTI};

    if (program < 0 || syscall(SYS_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr)) < 0)
        return err_sys(err, "a rule for the console of this host in %s", directory);
    return 1;
}

/* ---- cgroup v1 ---- */

/* Returns 0 if that cgroup has no rules for devices. */
static int write_rule(const char *directory, struct err *err)
{
    _cleanup_free_ char *path = strf("%s/devices.deny", directory);
    _cleanup_fd_ int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    char rule[32];

    if (!path)
        return err_nomem(err);
    if (fd < 0 && errno == ENOENT)
        return 0;
    snprintf(rule, sizeof(rule), "c %d:%d rwm", CONSOLE_MAJOR, CONSOLE_MINOR);
    if (fd < 0 || write(fd, rule, strlen(rule)) < 0)
        return err_sys(err, "%s", path);
    return 1;
}

/* ---- the container's cgroups ---- */

/* Returns the directory of a cgroup below a mount, or NULL if the mount does not show it. */
static const char *find_directory(const struct mount_entry *mount, const char *cgroup,
                                  struct arena *arena)
{
    size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);

    if (!path_is_beneath(cgroup, mount->root))
        return NULL;
    return arena_printf(arena, "%s%s", mount->point, cgroup + root);
}

/* Denies it in one cgroup, "ID:CONTROLLERS:PATH" (cgroups(7)). Returns 1 if that is done, or 0. */
static int deny_in(const char *line, const struct mount_table *table, struct arena *arena,
                   struct err *err)
{
    bool second = strncmp(line, "0::", 3) == 0;
    const char *colon = strchr(line, ':'), *cgroup = colon ? strchr(colon + 1, ':') : NULL;
    int rc = 0;

    if (!cgroup || strcmp(++cgroup, "/") == 0) /* that of the host */
        return 0;
    for (size_t i = 0; rc == 0 && i < table->count; i++) {
        const struct mount_entry *mount = &table->list[i];
        if (strcmp(mount->type, second ? "cgroup2" : "cgroup") != 0)
            continue;
        const char *directory = find_directory(mount, cgroup, arena);
        if (directory)
            rc = second ? attach_program(directory, err) : write_rule(directory, err);
    }
    return rc;
}

static int deny_in_all(char *lines, struct arena *arena, struct err *err)
{
    struct mount_table table;
    char *line, *rest = lines;
    int done = 0;

    if (mount_table_read(arena, &table, err) < 0)
        return -1;
    while ((line = strsep(&rest, "\n")) != NULL) {
        int rc = deny_in(line, &table, arena, err);
        if (rc < 0)
            return -1;
        done += rc;
    }
    return done ? 0
                : err_set(err, ERR_UNSUPPORTED,
                          "the container has no cgroup of its own with rules for devices, and "
                          "could open the console of this host");
}

/* Reads the container's state. Returns the process of the container, or -1. */
static int64_t read_pid(struct err *err)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    int64_t pid;

    if (fd_read_all(STDIN_FILENO, MOST_STATE, &text, err) < 0)
        return -1;
    _cleanup_json_ struct json_doc *doc = json_parse_buf(&text, NULL, err);
    if (!doc)
        return -1;
    return json_i64(json_get(json_root(doc), "pid"), &pid) && pid > 0
               ? pid
               : err_set(err, ERR_FORMAT, "the state of the container has no pid");
}

int console_deny(struct err *err)
{
    _cleanup_arena_ struct arena arena = {0};
    _cleanup_buf_ struct buf text = BUF_INIT;
    int64_t pid = read_pid(err);
    _cleanup_free_ char *path = pid < 0 ? NULL : strf("/proc/%lld/cgroup", (long long)pid);

    if (pid < 0)
        return -1;
    if (!path)
        return err_nomem(err);
    if (file_read(AT_FDCWD, path, MOST_CGROUPS, &text, err) < 0)
        return -1;
    char *lines = buf_take(&text, err);
    if (!lines)
        return -1;
    int rc = deny_in_all(lines, &arena, err);
    free(lines);
    return rc;
}
