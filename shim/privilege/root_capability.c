#include "shim/privilege/root_capability.h"

#include "shim/privilege/capability.h"

/*
 * Left out, because none makes root by itself: KILL, IPC_OWNER, NET_ADMIN and others reach no
 * further than the container's namespaces; SETPCAP, FSETID and SYS_CHROOT need a program with the
 * setuid bit or file capabilities, which no_new_privileges excludes; LINUX_IMMUTABLE, LEASE,
 * SYS_NICE, SYS_RESOURCE, SYS_TIME, SYS_PACCT, SYS_TTY_CONFIG, SYSLOG, AUDIT_*, MAC_*,
 * WAKE_ALARM, BLOCK_SUSPEND, CHECKPOINT_RESTORE and IPC_LOCK harm a host, but give no access.
 */
static const struct {
    const char *name, *allows;
} capabilities[] = {
    {"SETUID", "sets any uid"},
    {"SETGID", "sets any gid, such as disk or shadow"},
    {"DAC_OVERRIDE", "writes all files"},
    {"DAC_READ_SEARCH", "reads all files, those outside the container too"},
    {"CHOWN", "takes files from root"},
    {"FOWNER", "changes the mode of all files"},
    {"SETFCAP", "gives capabilities to programs, which keep them on the host"},
    {"MKNOD", "makes nodes of disks, which open on the host"},
    {"SYS_ADMIN", "mounts, and joins namespaces"},
    {"SYS_MODULE", "loads code into the kernel"},
    {"SYS_PTRACE", "controls other users' processes"},
    {"SYS_RAWIO", "writes to memory and disks"},
    {"SYS_BOOT", "starts another kernel"},
    {"BPF", "loads programs into the kernel"},
    {"PERFMON", "reads memory of all processes and of the kernel"},
};

static const char *find_reason(uint64_t bit)
{
    for (size_t i = 0; bit && i < sizeof(capabilities) / sizeof(*capabilities); i++)
        if (capability_bit(capabilities[i].name) == bit)
            return capabilities[i].allows;
    return NULL;
}

/* Returns true if an earlier item of the list has the same name. */
static bool is_repeated(const struct json *names, size_t index, uint64_t bit)
{
    for (size_t i = 0; i < index; i++) {
        const char *name = json_text(json_at(names, i));
        if (name && bit && capability_bit(name) == bit)
            return true;
    }
    return false;
}

void root_capability_print(const struct json *process, uint64_t kept, struct buf *out)
{
    const struct json *names = json_path(process, "capabilities", "ambient", NULL);
    size_t count = 0;

    for (size_t i = 0; i < json_count(names); i++) {
        const char *name = json_text(json_at(names, i));
        uint64_t bit = name ? capability_bit(name) : 0;
        const char *reason = bit ? find_reason(bit & kept) : "not known here";
        if (!reason || (!bit && ~kept) || is_repeated(names, i, bit))
            continue;
        buf_printf(out, "%s%.40s", count ? ", " : "", name ? name : "?");
        if (count++ == 0)
            buf_printf(out, " (%s)", reason);
    }
}
