// Package procfile reads small files of /proc and /sys with few system calls, and finds
// the cgroups of processes.
package procfile
