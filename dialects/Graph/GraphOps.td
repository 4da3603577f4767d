// All operations of the dialect; each family's file also stands for itself, so that they compile apart.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHOPS_TD
#define STATOR_DIALECTS_GRAPH_GRAPHOPS_TD

include "dialects/Graph/GraphContraction.td"
include "dialects/Graph/GraphControlFlow.td"
include "dialects/Graph/GraphElementwise.td"
include "dialects/Graph/GraphElementwiseBinary.td"
include "dialects/Graph/GraphIndexing.td"
include "dialects/Graph/GraphNormalisation.td"
include "dialects/Graph/GraphRecurrent.td"
include "dialects/Graph/GraphReduction.td"
include "dialects/Graph/GraphShape.td"
include "dialects/Graph/GraphState.td"
include "dialects/Graph/GraphWindow.td"

#endif // STATOR_DIALECTS_GRAPH_GRAPHOPS_TD
