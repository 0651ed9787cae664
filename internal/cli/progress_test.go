package cli

import (
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	tests := []struct {
		read, size, collections int64
		elapsed                 time.Duration
		want                    string
	}{
		{250e6, 1000e6, 1234, 2 * time.Second, "250 MB of 1.00 GB, 25 %, 125 MB/s, 1,234 collections, 6s left"},
		{250e6, 1000e6, 1, 2 * time.Second, "250 MB of 1.00 GB, 25 %, 125 MB/s, 1 collection, 6s left"},
		{250e6, 0, 0, 2 * time.Second, "250 MB, 125 MB/s"},
		{0, 1000e6, 0, time.Second, "0 B of 1.00 GB, 0 %, 0 B/s"},
	}
	for _, tt := range tests {
		if got := progressLine(tt.read, tt.size, tt.collections, tt.elapsed); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
