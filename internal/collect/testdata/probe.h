// Tracepoints of the .NET runtime, as genLttngProvider.py makes them.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER DotNETRuntime

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./probe.h"

#if !defined(PROBE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROBE_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(DotNETRuntime, GCStart_V2,
	LTTNG_UST_TP_ARGS(unsigned int, Count, unsigned int, Depth, unsigned int, Reason, unsigned int, Type,
		unsigned short, ClrInstanceID, unsigned long long, ClientSequenceNumber),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, Count, Count)
		lttng_ust_field_integer(unsigned int, Depth, Depth)
		lttng_ust_field_integer(unsigned int, Reason, Reason)
		lttng_ust_field_integer(unsigned int, Type, Type)
		lttng_ust_field_integer(unsigned short, ClrInstanceID, ClrInstanceID)
		lttng_ust_field_integer(unsigned long long, ClientSequenceNumber, ClientSequenceNumber)))

LTTNG_UST_TRACEPOINT_EVENT(DotNETRuntime, GCEnd_V1,
	LTTNG_UST_TP_ARGS(unsigned int, Count, unsigned int, Depth, unsigned short, ClrInstanceID),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, Count, Count)
		lttng_ust_field_integer(unsigned int, Depth, Depth)
		lttng_ust_field_integer(unsigned short, ClrInstanceID, ClrInstanceID)))

LTTNG_UST_TRACEPOINT_EVENT(DotNETRuntime, GCSuspendEEBegin_V1,
	LTTNG_UST_TP_ARGS(unsigned int, Reason, unsigned int, Count, unsigned short, ClrInstanceID),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, Reason, Reason)
		lttng_ust_field_integer(unsigned int, Count, Count)
		lttng_ust_field_integer(unsigned short, ClrInstanceID, ClrInstanceID)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(DotNETRuntime, Empty,
	LTTNG_UST_TP_ARGS(unsigned short, ClrInstanceID),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned short, ClrInstanceID, ClrInstanceID)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(DotNETRuntime, Empty, DotNETRuntime, GCSuspendEEEnd_V1, LTTNG_UST_TP_ARGS(unsigned short, ClrInstanceID))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(DotNETRuntime, Empty, DotNETRuntime, GCRestartEEBegin_V1, LTTNG_UST_TP_ARGS(unsigned short, ClrInstanceID))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(DotNETRuntime, Empty, DotNETRuntime, GCRestartEEEnd_V1, LTTNG_UST_TP_ARGS(unsigned short, ClrInstanceID))

// An event with more than 9 parameters has its payload as bytes.
LTTNG_UST_TRACEPOINT_EVENT(DotNETRuntime, GCHeapStats_V2,
	LTTNG_UST_TP_ARGS(unsigned int, length, const char *, data),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned long, length, length)
		lttng_ust_field_sequence(char, __data__, data, unsigned long, length)))

#endif

#include <lttng/tracepoint-event.h>
