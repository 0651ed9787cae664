// Raises the events of so many collections. The first line of its standard input has
// it begin.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "probe.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	unsigned int n = argc > 1 ? atoi(argv[1]) : 1;
	getchar();
	for (unsigned int i = 1; i <= n; i++) {
		char stats[110] = {0};
		uint64_t size = 1000 * i;
		memcpy(stats, &size, sizeof size); // GenerationSize0
		lttng_ust_tracepoint(DotNETRuntime, GCSuspendEEBegin_V1, 1, i, 9);
		lttng_ust_tracepoint(DotNETRuntime, GCSuspendEEEnd_V1, 9);
		lttng_ust_tracepoint(DotNETRuntime, GCStart_V2, i, i % 3, 0, 0, 9, 0);
		usleep(500);
		lttng_ust_tracepoint(DotNETRuntime, GCEnd_V1, i, i % 3, 9);
		lttng_ust_tracepoint(DotNETRuntime, GCHeapStats_V2, sizeof stats, stats);
		lttng_ust_tracepoint(DotNETRuntime, GCRestartEEBegin_V1, 9);
		lttng_ust_tracepoint(DotNETRuntime, GCRestartEEEnd_V1, 9);
		usleep(500);
	}
	puts("done");
	fflush(stdout);
	getchar();
	return 0;
}
