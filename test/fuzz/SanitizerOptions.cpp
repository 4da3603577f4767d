// LLVM's allocators mark free memory for AddressSanitizer where their inline code is instrumented, that is here, and do not take the marks
// away where it is not, in the distribution's libMLIR and libLLVM. The same holds for the vectors that both fill. Neither is an error.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0"; }
