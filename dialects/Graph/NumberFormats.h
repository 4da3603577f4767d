// Elements as numbers: reading and writing one element of any type, with the rounding that `graph.convert` specifies. Shared by the
// interpreter and the parameter recipes, so that a derived parameter has the bits that the interpreter would give it.
#ifndef STATOR_DIALECTS_GRAPH_NUMBERFORMATS_H
#define STATOR_DIALECTS_GRAPH_NUMBERFORMATS_H

#include "stator/ElementType.h"

#include <cstdint>

namespace stator::graph {

/// Any element as a double: exact but for large i64, which are rounded.
double loadDouble(ElementType type, const void *element);
/// An integer or i1 element.
int64_t loadInteger(ElementType type, const void *element);

/// Rounds to nearest even; integers truncate and saturate, NaN gives 0; i1 is whether it differs from zero.
void storeDouble(ElementType type, void *element, double value);
/// Wraps; floats round to nearest even; i1 is whether it differs from zero.
void storeInteger(ElementType type, void *element, int64_t value);

/// One element from one type to another, as `graph.convert`.
void convertElement(ElementType from, const void *source, ElementType to, void *target);

/// The float formats that C++ does not have, by their bits.
uint16_t encodeF16(double value);
uint16_t encodeBF16(double value);
double decodeF16(uint16_t bits);
double decodeBF16(uint16_t bits);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_NUMBERFORMATS_H
