// Mutations of source code and JSON that a parser takes now and then: words, numbers and lines in the place of others.
#ifndef STATOR_TEST_FUZZ_TEXTMUTATOR_H
#define STATOR_TEST_FUZZ_TEXTMUTATOR_H

#include <random>
#include <string>

namespace stator::fuzz {

/// One change.
void mutateText(std::string &text, std::minstd_rand &random);

} // namespace stator::fuzz

#endif // STATOR_TEST_FUZZ_TEXTMUTATOR_H
