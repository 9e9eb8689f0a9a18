// The one function of glibc 2.36 that the static libstdc++ of GCC 12 calls, so that the program starts where glibc is 2.34.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

uint32_t arc4random(void) {
	uint32_t x;
	if (getentropy(&x, sizeof x) != 0) abort();
	return x;
}
