//===- PlanOps.td - all operations of the plan dialect ---------------------===//
//
// The umbrella: one file for methods and buffers, one for instructions.
//
//===----------------------------------------------------------------------===//

#ifndef STATOR_DIALECTS_PLAN_PLANOPS_TD
#define STATOR_DIALECTS_PLAN_PLANOPS_TD

include "dialects/Plan/PlanMethod.td"
include "dialects/Plan/PlanInstructions.td"

#endif // STATOR_DIALECTS_PLAN_PLANOPS_TD
