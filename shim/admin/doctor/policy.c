#include "shim/admin/doctor/doctor.h"

#include "shim/admin/check/lint.h"
#include "shim/admin/doctor/store/store.h"
#include "shim/admin/engine/nvidia_toolkit.h"

#include <string.h>
#include <unistd.h>

/* Returns true for a finding about the order of NVIDIA's runtime and flatbed-runtime. */
static bool is_of_gpus(const struct finding *f)
{
    return strncmp(f->rule, "nvidia-", 7) == 0;
}

/* Tells the findings on NVIDIA's toolkit one by one: they decide who gets which GPU. */
static void tell_gpus(const struct policy *policy, const struct findings *findings,
                      struct diagnoses *out)
{
    const char *toolkit = nvidia_toolkit_default_path;
    size_t told = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->list[i];
        if (!is_of_gpus(f) || f->level == FINDING_NOTE)
            continue;
        struct diagnosis *of =
            diagnoses_add(out, f->level == FINDING_ERROR ? DIAGNOSIS_ERROR : DIAGNOSIS_WARNING,
                          "gpu-order", f->file ? f->file : policy->files[0].path, "%s", f->message);
        diagnosis_cost(out, of, "%s",
                       f->level == FINDING_ERROR ? "containers with GPUs do not start"
                                                 : "the policy does not decide who gets which GPU");
        diagnosis_mend(out, of, "flatbed check shows the place; docs/gpu.md has the order");
        told++;
    }
    if (told == 0 && policy->mode != POLICY_OFF && access(toolkit, F_OK) == 0)
        diagnoses_add(out, DIAGNOSIS_OK, "gpu-order", toolkit,
                      "NVIDIA's runtime and flatbed-runtime call each other in order");
}

static size_t count(const struct findings *findings, enum finding_level level)
{
    size_t all = 0;

    for (size_t i = 0; i < findings->count; i++)
        all += findings->list[i].level == level && !is_of_gpus(&findings->list[i]);
    return all;
}

static void examine_findings(const struct policy *policy, struct diagnoses *out)
{
    _cleanup_findings_ struct findings findings = {.patience = store_patience(out)};

    if (!diagnoses_want(out, "policy") && !diagnoses_want(out, "gpu-order"))
        return;
    lint_policy(policy, &findings);
    lint_host(policy, &findings);
    lint_engines(policy, &findings);
    tell_gpus(policy, &findings, out);
    size_t errors = count(&findings, FINDING_ERROR);
    size_t warnings = count(&findings, FINDING_WARNING);
    const char *path = policy->files[0].path;
    if (errors + warnings == 0) {
        diagnoses_add(out, DIAGNOSIS_OK, "policy", path, "it has no errors (mode %s)",
                      policy_mode_names[policy->mode]);
        return;
    }
    struct diagnosis *of =
        diagnoses_add(out, errors ? DIAGNOSIS_ERROR : DIAGNOSIS_WARNING, "policy", path,
                      "it has %zu error%s and %zu warning%s", errors, errors == 1 ? "" : "s",
                      warnings, warnings == 1 ? "" : "s");
    diagnosis_mend(out, of, "flatbed check shows them");
}

void doctor_policy(const struct policy *policy, struct diagnoses *out)
{
    if (!policy) {
        struct diagnosis *of = diagnoses_add(out, DIAGNOSIS_ADVICE, "policy", policy_default_path,
                                             "there is none: containers start as if without "
                                             "flatbed-runtime");
        diagnosis_mend(out, of, "flatbed-policy(5) has an example");
        return;
    }
    doctor_volumes(policy, out); /* first: sources that hang get less patience from then on */
    examine_findings(policy, out);
    doctor_tuning(policy, out);
}
