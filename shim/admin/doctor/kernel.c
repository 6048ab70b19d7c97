#include "shim/admin/doctor/doctor.h"

#include "base/fdio.h"

#include <fcntl.h>
#include <string.h>

/* Returns true for a parameter of the module that is on. */
static bool is_on(const char *parameter)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    _cleanup_free_ char *path = strf("/sys/module/overlay/parameters/%s", parameter);
    struct err ignored;

    return path && file_read(AT_FDCWD, path, 4096, &text, &ignored) == 0 && text.data &&
           text.data[0] == 'Y';
}

static bool has_overlay(void)
{
    _cleanup_buf_ struct buf text = BUF_INIT;
    struct err ignored;

    return file_read(AT_FDCWD, "/proc/filesystems", 1 << 20, &text, &ignored) == 0 && text.data &&
           strstr(text.data, "\toverlay\n");
}

void doctor_kernel(struct diagnoses *out)
{
    static const char subject[] = "overlayfs";
    bool metacopy = is_on("metacopy"), redirect = is_on("redirect_dir"), index = is_on("index");
    struct diagnosis *of;

    if (!has_overlay()) {
        of = diagnoses_add(out, DIAGNOSIS_WARNING, "overlay-module", subject,
                           "the kernel has not loaded it");
        diagnosis_mend(out, of, "modprobe overlay, and a line 'overlay' in /etc/modules-load.d");
        return;
    }
    if (!metacopy && !redirect && !index) {
        diagnoses_add(out, DIAGNOSIS_OK, "overlay-defaults", subject,
                      "its defaults are those that engines expect");
        return;
    }
    of = diagnoses_add(
        out, DIAGNOSIS_ADVICE, "overlay-defaults", subject, "%s on by default:%s%s%s",
        metacopy + redirect + index > 1 ? "these are" : "this is", metacopy ? " metacopy" : "",
        redirect ? " redirect_dir" : "", index ? " index" : "");
    diagnosis_cost(out, of,
                   "Docker compares all files at a commit or build step (no native diff), and "
                   "'flatbed restack' leaves such roots as they are");
    diagnosis_mend(out, of,
                   "in /etc/modprobe.d: options overlay metacopy=off redirect_dir=off index=off");
}
