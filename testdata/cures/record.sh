#!/usr/bin/env bash
#
# Records the traces of this folder again, all of them or those named, each as NAME.nettrace.gz:
#
#     bash testdata/cures/record.sh FOLDER [NAME...]
#
# It needs Linux on x64 and, in the folders of these variables, .NET 10 and gctrail, cures.dll
# and shop.dll (from gc/findings/testdata/cures.cs and internal/dotnettest), trouble.dll,
# leaks.dll and lab.dll likewise, and the programs gcload for .NET 9 and 10 (gcload9, gcload10).

set -euo pipefail
export DOTNET=${DOTNET:-/opt/dotnet/dotnet} CURES=${CURES:-/tmp/cures/cures.dll} SHOP=${SHOP:-/tmp/shop/shop.dll} \
	TROUBLE=${TROUBLE:-/opt/trouble/trouble.dll} LEAKS=${LEAKS:-/tmp/leaks/leaks.dll} LAB=${LAB:-/opt/lab/lab.dll} GCLOAD=${GCLOAD:-/opt/gcload} GCTRAIL=${GCTRAIL:-gctrail}
folder=$1
shift
names=" $* "
gc=Microsoft-Windows-DotNETRuntime:0x1:4
first='chrt -f 1' # before other programs, where these would decide what the trace shows

# wanted reports whether a trace is asked for.
wanted() { [[ $names == '  ' || $names == *" $1 "* ]]; }

# by_runtime NAME [VARIABLE=VALUE...] COMMAND... has the runtime record collections.
by_runtime() {
	local name=$1
	shift
	wanted "$name" || return 0
	env DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath="$folder/$name.nettrace" DOTNET_EventPipeRundown=0 \
		DOTNET_EventPipeConfig=$gc "$@" >"$folder/$name.out" || echo "$name: exit $?"
	gzip -9nf "$folder/$name.nettrace"
}

# by_gctrail NAME FLAGS -- [VARIABLE=VALUE...] COMMAND... has gctrail record.
by_gctrail() {
	local name=$1 flags=()
	shift
	wanted "$name" || return 0
	while [[ $1 != -- ]]; do flags+=("$1") && shift; done
	env -u DOTNET_EnableEventPipe "$GCTRAIL" collect -o "$folder/$name.nettrace" ${flags[@]+"${flags[@]}"} -- env "${@:2}" >"$folder/$name.out" 2>&1 || echo "$name: exit $?"
	gzip -9nf "$folder/$name.nettrace"
}

# pair MODE SECONDS [VARIABLE=VALUE...] records a program of cures with its trouble, and without.
pair() {
	by_runtime "$1-bad" "${@:3}" "$DOTNET" "$CURES" "$1-bad" "$2"
	by_runtime "$1-good" "${@:3}" "$DOTNET" "$CURES" "$1-good" "$2"
}

for mode in batch chain collect finalize old pin poh pressure sizes table weak region; do pair "$mode" 3; done
pair handles 4
pair results 8
pair job 40 DOTNET_GCgen0size=0x1000000 $first
pair watch 8 DOTNET_GCgen0size=0x4000000 $first
pair report 6
pair stay 7 DOTNET_GCgen0size=0x800000
pair knots 3 DOTNET_gcConcurrent=0 DOTNET_gcServer=1 DOTNET_GCDynamicAdaptationMode=0 DOTNET_GCgen0size=0x2000000 $first
by_runtime large-bad "$DOTNET" "$CURES" large-bad 0.4
by_runtime large-good "$DOTNET" "$CURES" large-good 3

server=(DOTNET_gcServer=1 DOTNET_GCDynamicAdaptationMode=0)
by_runtime budget-default "${server[@]}" "$DOTNET" "$CURES" batch-bad 4
by_runtime budget-lower "${server[@]}" DOTNET_GCGen0MaxBudget=0x2000000 "$DOTNET" "$CURES" batch-bad 4
by_runtime between-default "${server[@]}" "$DOTNET" "$CURES" allocate-bad 6
by_runtime between-lower "${server[@]}" DOTNET_GCGen0MaxBudget=0x2000000 "$DOTNET" "$CURES" allocate-bad 6
by_runtime background-blocking DOTNET_gcConcurrent=0 "$GCLOAD/gcload10" background 4 2
by_runtime background-concurrent "$GCLOAD/gcload10" background 4 2
by_runtime gen0-small DOTNET_GCgen0size=0x40000 "$DOTNET" "$CURES" allocate-bad 0.4
by_runtime gen0-large DOTNET_GCgen0size=0x8000000 "$DOTNET" "$CURES" allocate-bad 3
by_runtime datas-on DOTNET_gcServer=1 "$GCLOAD/gcload9" web 4 2
by_runtime datas-off "${server[@]}" "$GCLOAD/gcload9" web 4 2
by_runtime datas-large DOTNET_gcServer=1 "$DOTNET" "$CURES" large-bad 0.6
by_runtime datas-pooled DOTNET_gcServer=1 "$DOTNET" "$CURES" large-good 0.6
by_runtime heaps-changing DOTNET_gcServer=1 DOTNET_GCDTargetTCP=0x14 "$GCLOAD/gcload9" all 14 4
by_runtime heaps-fixed DOTNET_gcServer=1 DOTNET_GCHeapCount=0x2 "$GCLOAD/gcload9" all 14 4

# The runtime makes no more heaps than there are processors: this needs four.
by_runtime heaps-four "${server[@]}" DOTNET_GCHeapCount=0x4 DOTNET_GCNoAffinitize=1 DOTNET_GCgen0size=0x400000 "$DOTNET" "$LAB" mix 3
by_runtime heaps-two "${server[@]}" DOTNET_GCHeapCount=0x2 DOTNET_GCNoAffinitize=1 DOTNET_GCgen0size=0x400000 "$DOTNET" "$LAB" mix 3

# A program that another one stops for 40 ms at a time, or none does.
stopped=(bash -c '"$@" & while kill -STOP $! 2>/dev/null; do sleep 0.04; kill -CONT $!; sleep 0.15; done' stopped)
by_runtime stopped-often DOTNET_GCgen0size=0x400000 "${stopped[@]}" $first "$DOTNET" "$CURES" steady 10
by_runtime stopped-never DOTNET_GCgen0size=0x400000 $first "$DOTNET" "$CURES" steady 10

# Programs that die of an OutOfMemoryException, and live.
for trouble in oom:0x1 oom-exceptions:0x8001; do
	gc=Microsoft-Windows-DotNETRuntime:${trouble#*:}:4
	by_runtime "${trouble%:*}-bad" DOTNET_GCHeapHardLimit=0x4000000 "$DOTNET" "$CURES" results-bad 12
	by_runtime "${trouble%:*}-good" DOTNET_GCHeapHardLimit=0x4000000 "$DOTNET" "$CURES" results-good 12
done

# What the session costs: with survival and movement of all objects, and without.
gc=Microsoft-Windows-DotNETRuntime:0x400001:4
by_runtime walked DOTNET_GCgen0size=0x4000000 "$DOTNET" "$CURES" live-bad 2
gc=Microsoft-Windows-DotNETRuntime:0x1:4
by_runtime unwalked DOTNET_GCgen0size=0x4000000 "$DOTNET" "$CURES" live-bad 2

# Threads of server GC that wait for each other, and workstation GC.
gc=Microsoft-Windows-DotNETRuntime:0x1:5
by_runtime joins-server "${server[@]}" DOTNET_GCgen0size=0x2000000 $first "$DOTNET" "$CURES" batch-good 0.3
by_runtime joins-workstation DOTNET_GCgen0size=0x2000000 $first "$DOTNET" "$CURES" batch-good 2

# Large arrays that wait for background GCs, which the private provider has.
gc=Microsoft-Windows-DotNETRuntime:0x1:4,Microsoft-Windows-DotNETRuntimePrivate:0x1:5
pair need 4
gc=Microsoft-Windows-DotNETRuntime:0x1:4

# Two processes with server GC at a time, with one heap each.
for i in 1 2; do
	by_runtime "pair-one-$i" "${server[@]}" DOTNET_GCgen0size=0x400000 DOTNET_GCHeapCount=0x1 "$GCLOAD/gcload10" web 2 2 &
done
wait

# Programs that testdata has while they lack processors, when they have them: by gctrail,
# which records their threads.
by_gctrail threads-two -- $first "$GCLOAD/gcload10" web 2 2
by_gctrail preferred -- $first "$DOTNET" "$LAB" list 3
by_gctrail unthrottled -- DOTNET_GCgen0size=0x2000000 $first "$GCLOAD/gcload10" web 2 1

# Threads that wait for a lock, with and without the events of that.
by_gctrail locks-unseen --clrevents gc -- DOTNET_GCgen0size=0x400000 $first "$DOTNET" "$TROUBLE" locks 3
by_gctrail locks-seen --clrevents gc+contention -- DOTNET_GCgen0size=0x400000 $first "$DOTNET" "$TROUBLE" locks 3

# A finalizer that waits for longer than the trace.
by_gctrail closed-bad --duration 3s --providers $gc -- "$DOTNET" "$CURES" closed-bad 5
by_gctrail closed-good --duration 3s --providers $gc -- "$DOTNET" "$CURES" closed-good 5

# Programs whose time goes to something else.
small=DOTNET_GCgen0size=0x400000
by_gctrail locks-mended --clrevents gc+contention -- $small $first "$DOTNET" "$TROUBLE" locks-mended 1.6
by_gctrail pool-mended --clrevents gc+threading -- $small "$DOTNET" "$TROUBLE" pool-mended 4
by_gctrail jit-mended --clrevents gc+jit --clreventlevel 5 -- $small "$DOTNET" "$TROUBLE" jit-mended 0.7
by_gctrail exceptions-mended --clrevents gc+exception -- $small "$DOTNET" "$TROUBLE" exceptions-mended 2
by_gctrail types-mended --clrevents gc+typediagnostic -- $small "$DOTNET" "$TROUBLE" types-mended 1.1
by_gctrail requests-mended --requests -- $small "$DOTNET" "$SHOP" mended

# later NAME SECONDS DURATION [VARIABLE=VALUE...] COMMAND... has gctrail record a program that has run for some time.
later() {
	local name=$1 pid
	wanted "$name" || return 0
	env "${@:4}" >"$folder/$name.out" &
	pid=$!
	sleep "$2"
	"$GCTRAIL" collect -p "$pid" --duration "$3" -o "$folder/$name.nettrace" 2>&1
	wait "$pid"
	gzip -9nf "$folder/$name.nettrace"
}

later replace-free 1.5 4.5s DOTNET_GCgen0size=0x200000 $first "$DOTNET" "$CURES" replace 8
later replace-limited 1.5 4.5s DOTNET_GCgen0size=0x200000 DOTNET_GCHeapHardLimitPercent=0x1 $first "$DOTNET" "$CURES" replace 8
later web-later 4 12s "$GCLOAD/gcload10" web 20 2

# Three heap snapshots of a program that does not leak any more.
if wanted leak-event-mended; then
	coproc leaks { exec "$DOTNET" "$LEAKS" unsubscribed; }
	pid=$leaks_PID
	read -r _ <&"${leaks[0]}"
	"$GCTRAIL" dump -p "$pid" --repeat 3 --every 1s --yes -o "$folder/leak-event-mended.nettrace" 2>&1 &
	for _ in 1 2 3; do sleep 1 && echo >&"${leaks[1]}"; done
	wait $!
	kill "$pid"
	gzip -9nf "$folder/leak-event-mended.nettrace"
fi
