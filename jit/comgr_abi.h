/* What we use of the C interface of ROCm's code object manager, declared here because the library is opened
 * at run time and its header need not be installed. Numbers and signatures as in amd_comgr.h of ROCm's
 * CompilerSupport, interface versions 2.0 to 3.3; every function here has been there since 1.8 or 2.0. */
#ifndef TW_JIT_COMGR_ABI_H
#define TW_JIT_COMGR_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct comgr_data {
    uint64_t handle;
} comgr_data;
typedef struct comgr_data_set {
    uint64_t handle;
} comgr_data_set;
typedef struct comgr_action_info {
    uint64_t handle;
} comgr_action_info;

/* amd_comgr_status_t */
typedef enum comgr_status {
    COMGR_SUCCESS = 0,
    COMGR_ERROR = 1,
    COMGR_INVALID_ARGUMENT = 2,
    COMGR_OUT_OF_RESOURCES = 3
} comgr_status;

/* amd_comgr_data_kind_t */
typedef enum comgr_kind {
    COMGR_KIND_LOG = 5,
    COMGR_KIND_BC = 6, /* text is taken too */
    COMGR_KIND_RELOCATABLE = 7,
    COMGR_KIND_EXECUTABLE = 8
} comgr_kind;

/* amd_comgr_action_kind_t was renumbered from interface 2 to 3: major version, CODEGEN_BC_TO_RELOCATABLE,
 * LINK_RELOCATABLE_TO_EXECUTABLE. A major version without a row cannot be used. */
#define COMGR_ACTIONS(X) \
    X(2, 6, 9)           \
    X(3, 4, 7)

/* result, name without "amd_comgr_", parameters */
#define COMGR_FUNCTIONS(X)                                                                    \
    X(void, get_version, (size_t *, size_t *))                                                \
    X(comgr_status, status_string, (comgr_status, const char **))                             \
    X(comgr_status, get_isa_count, (size_t *))                                                \
    X(comgr_status, get_isa_name, (size_t, const char **))                                    \
    X(comgr_status, create_data, (comgr_kind, comgr_data *))                                  \
    X(comgr_status, release_data, (comgr_data))                                               \
    X(comgr_status, set_data, (comgr_data, size_t, const char *))                             \
    X(comgr_status, set_data_name, (comgr_data, const char *))                                \
    X(comgr_status, get_data, (comgr_data, size_t *, char *))                                 \
    X(comgr_status, create_data_set, (comgr_data_set *))                                      \
    X(comgr_status, destroy_data_set, (comgr_data_set))                                       \
    X(comgr_status, data_set_add, (comgr_data_set, comgr_data))                               \
    X(comgr_status, action_data_count, (comgr_data_set, comgr_kind, size_t *))                \
    X(comgr_status, action_data_get_data, (comgr_data_set, comgr_kind, size_t, comgr_data *)) \
    X(comgr_status, create_action_info, (comgr_action_info *))                                \
    X(comgr_status, destroy_action_info, (comgr_action_info))                                 \
    X(comgr_status, action_info_set_isa_name, (comgr_action_info, const char *))              \
    X(comgr_status, action_info_set_option_list, (comgr_action_info, const char *[], size_t)) \
    X(comgr_status, action_info_set_logging, (comgr_action_info, bool))                       \
    X(comgr_status, do_action, (int, comgr_action_info, comgr_data_set, comgr_data_set))

#endif
