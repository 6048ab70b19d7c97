/* NVIDIA's GPUs of this host: whether the policy limits them, and whether containers can have them.
 */
#include "shim/admin/doctor/doctor.h"

#include "base/human.h"
#include "shim/admin/engine/nvidia_toolkit.h"
#include "shim/gpu/gpu_host.h"

static const char gpus_path[] = "/proc/driver/nvidia/gpus";

static void examine_limit(const struct policy *policy, size_t gpus, struct diagnoses *out)
{
    const char *path = policy->files[0].path;

    if (policy->gpus.given) {
        diagnoses_add(out, DIAGNOSIS_OK, "gpu-limit", path,
                      "it says which of %zu GPU%s a container may have", gpus, human_s(gpus));
        return;
    }
    struct diagnosis *of =
        diagnoses_add(out, DIAGNOSIS_ADVICE, "gpu-limit", path,
                      "it has no \"gpus\", and this host has %zu GPU%s", gpus, human_s(gpus));
    diagnosis_cost(out, of, "each container may have all of them, and images of CUDA ask for all");
    diagnosis_mend(
        out, of,
        "\"gpus\": {\"max\": 1, \"all\": \"deny\", \"default\": \"none\"} in the policy; "
        "docs/gpu.md");
}

/* The toolkit's own findings are told under gpu-order. */
static void examine_specification(size_t gpus, struct diagnoses *out)
{
    struct nvidia_toolkit toolkit = {0};
    struct err ignored;

    if (nvidia_toolkit_read(nvidia_toolkit_default_path, &toolkit, &ignored) == 0) {
        if (nvidia_toolkit_has_spec(&toolkit)) {
            diagnoses_add(out, DIAGNOSIS_OK, "gpu-spec", gpus_path,
                          "there is a CDI specification of %s", toolkit.device_kind);
        } else if (!toolkit.exists) {
            struct diagnosis *of =
                diagnoses_add(out, DIAGNOSIS_ADVICE, "gpu-spec", gpus_path,
                              "this host has %zu GPU%s, and neither a CDI specification of %s nor "
                              "NVIDIA's container toolkit",
                              gpus, human_s(gpus), toolkit.device_kind);
            diagnosis_cost(out, of, "engines give GPUs to no container");
            diagnosis_mend(out, of,
                           "install nvidia-container-toolkit, then nvidia-ctk cdi generate "
                           "--output=/etc/cdi/nvidia.yaml; docs/gpu.md has the order");
        }
    }
    nvidia_toolkit_free(&toolkit);
}

void doctor_gpus(const struct policy *policy, struct diagnoses *out)
{
    _cleanup_arena_ struct arena arena = {0};
    struct gpu_host host = GPU_HOST_INIT;
    struct err ignored;

    if (gpu_host_read_cards(&arena, &host, &ignored) < 0 || !host.card_count)
        return;
    if (policy && policy->mode != POLICY_OFF)
        examine_limit(policy, host.card_count, out);
    examine_specification(host.card_count, out);
}
