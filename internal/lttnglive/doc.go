// Package lttnglive receives traces from a relay daemon of LTTng while they are
// recorded, through its protocol for viewers (lttng-tools,
// src/bin/lttng-relayd/lttng-viewer-abi.h), and stores them as folders that package ctf
// reads.
package lttnglive
