#include "shim/oci/spec_names.h"

#include "shim/oci/spec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * All member names of config.json (runtime-spec 1.3, the parts for every system and for Linux), in
 * the order of strcasecmp(3).
 */
static const char *const names[] = {
    "access",
    "action",
    "additionalGids",
    "allow",
    "ambient",
    "annotations",
    "apparmorProfile",
    "architectures",
    "args",
    "blockIO",
    "boottime",
    "bounding",
    "burst",
    "capabilities",
    "cgroupsPath",
    "checkBeforeUpdate",
    "class",
    "classID",
    "closID",
    "commandLine",
    "consoleSize",
    "containerID",
    "cpu",
    "cpus",
    "createContainer",
    "createRuntime",
    "cwd",
    "deadline",
    "defaultAction",
    "defaultErrnoRet",
    "destination",
    "devices",
    "disableOOMKiller",
    "domain",
    "domainname",
    "effective",
    "enableMonitoring",
    "env",
    "errnoRet",
    "execCPUAffinity",
    "fileMode",
    "final",
    "flags",
    "freebsd",
    "gid",
    "gidMappings",
    "hard",
    "hcaHandles",
    "hcaObjects",
    "height",
    "hooks",
    "hostID",
    "hostname",
    "hugepageLimits",
    "idle",
    "index",
    "inheritable",
    "initial",
    "intelRdt",
    "ioPriority",
    "kernel",
    "kernelTCP",
    "l3CacheSchema",
    "leafWeight",
    "limit",
    "linux",
    "listenerMetadata",
    "listenerPath",
    "major",
    "maskedPaths",
    "memBwSchema",
    "memory",
    "memoryPolicy",
    "mems",
    "minor",
    "mode",
    "monotonic",
    "mountLabel",
    "mounts",
    "name",
    "names",
    "namespaces",
    "nanosecs",
    "netDevices",
    "network",
    "nice",
    "nodes",
    "noNewPrivileges",
    "ociVersion",
    "oomScoreAdj",
    "op",
    "options",
    "pageSize",
    "path",
    "period",
    "permitted",
    "personality",
    "pids",
    "policy",
    "poststart",
    "poststop",
    "prestart",
    "priorities",
    "priority",
    "process",
    "quota",
    "rate",
    "rdma",
    "readonly",
    "readonlyPaths",
    "realtimePeriod",
    "realtimeRuntime",
    "reservation",
    "resources",
    "rlimits",
    "root",
    "rootfsPropagation",
    "runtime",
    "scheduler",
    "schemata",
    "seccomp",
    "secs",
    "selinuxLabel",
    "shares",
    "size",
    "soft",
    "solaris",
    "source",
    "startContainer",
    "swap",
    "swappiness",
    "syscalls",
    "sysctl",
    "terminal",
    "throttleReadBpsDevice",
    "throttleReadIOPSDevice",
    "throttleWriteBpsDevice",
    "throttleWriteIOPSDevice",
    "timeOffsets",
    "timeout",
    "type",
    "uid",
    "uidMappings",
    "umask",
    "unified",
    "useHierarchy",
    "user",
    "username",
    "value",
    "valueTwo",
    "vm",
    "weight",
    "weightDevice",
    "width",
    "windows",
    "zos",
};

enum { NAMES = sizeof(names) / sizeof(*names), LONGEST = 32 };

/* ---- folding ---- */

/* Returns the next byte of name in lower case, folding the two letters that Go folds into ASCII. */
static int next_folded(const char *name, size_t len, size_t *at)
{
    unsigned char c = (unsigned char)name[(*at)++];

    if (c == 0xc5 && *at < len && (unsigned char)name[*at] == 0xbf) { /* U+017F, long s */
        *at += 1;
        return 's';
    }
    if (c == 0xe2 && len - *at >= 2 && memcmp(name + *at, "\x84\xaa", 2) == 0) { /* Kelvin sign */
        *at += 2;
        return 'k';
    }
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool spec_name_shadows(const char *name, size_t len, const char *known)
{
    size_t known_len = strlen(known), i = 0, k = 0;

    if (len == known_len && memcmp(name, known, len) == 0)
        return false;
    while (i < len && k < known_len)
        if (next_folded(name, len, &i) != next_folded(known, known_len, &k))
            return false;
    return i == len && k == known_len;
}

static int by_name(const void *key, const void *row)
{
    return strcasecmp(key, *(const char *const *)row);
}

/* Returns the name that Go would take this one for, which may be the same; NULL if it is unknown.
 */
static const char *find_name(const char *name, size_t len)
{
    char folded[LONGEST];
    size_t i = 0, n = 0;

    while (i < len && n < sizeof(folded) - 1)
        folded[n++] = (char)next_folded(name, len, &i);
    folded[n] = '\0';
    const char *const *row =
        i == len ? bsearch(folded, names, NAMES, sizeof(*names), by_name) : NULL;
    return row ? *row : NULL;
}

/* ---- where ---- */

static void put_step(const struct json *parent, const struct json *value, struct buf *out)
{
    for (size_t i = 0; i < parent->len; i++) {
        if (parent->type == JSON_ARRAY && parent->items[i] == value)
            buf_printf(out, "[%zu]", i);
        else if (parent->type == JSON_OBJECT && parent->members[i].value == value)
            buf_printf(out, "%s%.64s", out->len ? "." : "", parent->members[i].key);
    }
}

/* Appends the place of a value, such as "linux.devices[0]". */
static void put_place(const struct json *value, struct buf *out)
{
    if (!value->parent) /* ends: the parser bounds the depth */
        return;
    put_place(value->parent, out);
    put_step(value->parent, value, out);
}

static int fail_at(const struct json *value, struct err *err, const char *what)
{
    _cleanup_buf_ struct buf place = BUF_INIT;

    put_place(value, &place);
    return err_set(err, ERR_FORMAT, "%s: %s", place.len ? place.data : "top level", what);
}

/* ---- the walk ---- */

static int check_key(const struct json *object, const struct json_member *m, bool free_keys,
                     struct err *err)
{
    char what[200];

    if (memchr(m->key, '\0', m->key_len)) { /* C runtimes end the name there */
        snprintf(what, sizeof(what), "a member's name with a NUL byte (\"%.64s\")", m->key);
        return fail_at(object, err, what);
    }
    const char *known = free_keys ? NULL : find_name(m->key, m->key_len);
    if (!known || !spec_name_shadows(m->key, m->key_len, known))
        return 0;
    snprintf(what, sizeof(what), "the member \"%.64s\" would be read as \"%s\"", m->key, known);
    return fail_at(object, err, what);
}

/* True for members whose value is an object with keys of anybody's choice. */
static bool has_free_keys(const char *key)
{
    static const char *const maps[] = {"annotations", "netDevices",  "rdma",
                                       "sysctl",      "timeOffsets", "unified"};

    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        if (strcmp(key, maps[i]) == 0)
            return true;
    return false;
}

static int check_value(const struct json *value, bool free_keys, struct err *err)
{
    if (value->type == JSON_STRING && !json_text(value))
        return fail_at(value, err, "a NUL byte");
    for (size_t i = 0; i < json_count(value); i++) {
        const struct json_member *m = value->type == JSON_OBJECT ? &value->members[i] : NULL;
        const struct json *child = m ? m->value : value->items[i];
        if (m && check_key(value, m, free_keys, err) < 0)
            return -1;
        if (check_value(child, m && has_free_keys(m->key), err) < 0)
            return -1;
    }
    return 0;
}

int spec_names_check(const struct json *root, struct err *err)
{
    return check_value(root, false, err);
}
