/* Tilewright: everything a user includes. docs/architecture.md says how the parts go together; each header
 * documents its functions: ownership, threads, errors, units. */
#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include "arch/lane_map.h"
#include "arch/matrix.h"
#include "arch/target.h"
#include "arch/transpose.h"
#include "instances/data.h"
#include "instances/direct_wgrad_depthwise.h"
#include "instances/direct_wgrad_mfma.h"
#include "instances/direct_wgrad_reduce.h"
#include "instances/field.h"
#include "instances/instance.h"
#include "instances/measures.h"
#include "ir/build.h"
#include "ir/context.h"
#include "ir/copy.h"
#include "ir/interp.h"
#include "ir/kernel.h"
#include "ir/matrix.h"
#include "ir/type.h"
#include "jit/cache.h"
#include "jit/code_object.h"
#include "jit/compile.h"
#include "jit/compiler.h"
#include "jit/offload_bundle.h"
#include "lower/flavor.h"
#include "lower/lower.h"
#include "run/bundle.h"
#include "run/device.h"
#include "run/element.h"
#include "run/plan.h"
#include "support/diag.h"
#include "support/float_formats.h"
#include "support/status.h"

#endif
