/* The rows of lower/flavors.def. */
#ifndef TW_LOWER_FLAVOR_INFO_H
#define TW_LOWER_FLAVOR_INFO_H

#include "lower/flavor.h"

typedef enum tw_rsrc_form {
    TW_RSRC_WORDS = 0, /* <4 x i32>, put together by hand */
    TW_RSRC_POINTER,   /* ptr addrspace(8), made by an intrinsic */
} tw_rsrc_form;

typedef enum tw_group_count_source {
    TW_GROUP_COUNT_DISPATCH_PACKET = 0, /* work-items of the grid, to be divided by the workgroup's size */
    TW_GROUP_COUNT_HIDDEN_ARGUMENT,
} tw_group_count_source;

typedef enum tw_atomic_hint {
    TW_ATOMIC_ATTRIBUTE = 1, /* of the function */
    TW_ATOMIC_METADATA = 2,  /* of the instruction */
    TW_ATOMIC_BOTH = 3,
} tw_atomic_hint;

typedef struct tw_flavor_info {
    tw_flavor flavor;
    const char *data_layout;
    const char *bf16_type;
    tw_rsrc_form rsrc_form;
    const char *rsrc_size_type;
    const char *lds_fence_tag;
    const char *flush_attribute;
    const char *version_flag;
    unsigned version;
    tw_group_count_source group_count;
    tw_atomic_hint atomic_hint;
    uint32_t half_register_targets;   /* 1 << tw_arch */
    uint32_t guarded_barrier_targets; /* 1 << tw_arch */
    uint32_t joined_sum_targets;      /* 1 << tw_arch */
} tw_flavor_info;

const tw_flavor_info *tw_flavor_info_get(tw_flavor flavor); /* NULL for a number that is no flavor */
/* bf16 values are LLVM's bfloat; otherwise they are kept as i16 and computed on with integers and f32. */
bool tw_flavor_has_bfloat(const tw_flavor_info *info);

#endif
