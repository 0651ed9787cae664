package diag

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

var gcProvider = Provider{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}

// never returns a client that must not connect.
func never(t *testing.T) *Client {
	return &Client{connect: func(context.Context) (conn, error) {
		t.Error("a request that must not be sent was on its way")
		return nil, errors.New("never")
	}}
}

// TestRefusedRequests: a request that would make a runtime refuse, or kill it, is not
// sent.
func TestRefusedRequests(t *testing.T) {
	ctx := context.Background()
	with := func(change func(*Config)) func(*Client) error {
		return func(c *Client) error {
			config := Config{BufferMB: 1, Providers: []Provider{gcProvider}}
			change(&config)
			_, err := c.Collect(ctx, config)
			return err
		}
	}
	for _, test := range []struct {
		name  string
		send  func(*Client) error
		field string
		text  string
	}{
		{"no buffer", with(func(c *Config) { c.BufferMB = 0 }), "buffer size", "buffer size: it is 0 MB, 1 is the least"},
		{"no providers", with(func(c *Config) { c.Providers = nil }), "providers", "providers: there are none"},
		{"no name", with(func(c *Config) { c.Providers[0].Name = "" }), "provider", "provider: it is empty"},
		{"zero in the name", with(func(c *Config) { c.Providers[0].Name = "a\x00" }), "provider", "provider: it contains a zero character"},
		{
			"level", with(func(c *Config) { c.Providers[0].Level = 6 }),
			"level of Microsoft-Windows-DotNETRuntime", "level of Microsoft-Windows-DotNETRuntime: it is 6, 5 (verbose) is the highest",
		},
		{
			"too long", with(func(c *Config) { c.Providers[0].Arguments = strings.Repeat("x", 33_000) }),
			"size", "size: it has 66119 bytes, the protocol allows 65535",
		},
		{
			"too many events", with(func(c *Config) { c.Providers[0].Events = make([]uint32, 20_000) }),
			"size", "size: it has 80134 bytes, the protocol allows 65535",
		},
		{"variable", func(c *Client) error { return c.SetEnvironment(ctx, "", "x") }, "variable", "variable: it is empty"},
		{"variable with =", func(c *Client) error { return c.SetEnvironment(ctx, "a=b", "x") }, "variable", "variable: its name contains ="},
		{"value", func(c *Client) error { return c.SetEnvironment(ctx, "a", "\x00") }, "value", "value: it contains a zero character"},
		{"perf map", func(c *Client) error { return c.EnablePerfMap(ctx, 0) }, "kind of perf map", "kind of perf map: it is 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.send(never(t))
			refused, ok := errors.AsType[*RequestError](err)
			if !ok || refused.Field != test.field || err.Error() != test.text {
				t.Errorf("got %v, want %s", err, test.text)
			}
		})
	}
}

// TestCollectTracing compares each form of the command byte by byte.
func TestCollectTracing(t *testing.T) {
	config := Config{
		BufferMB: 256, Rundown: RundownGC, NoStacks: true, Block: true,
		Providers: []Provider{{Name: "P", Keywords: 0x8003, Level: 5, Arguments: "k=v", Events: []uint32{1, 2}}, {Name: "Q"}},
	}
	full := config
	full.Rundown = RundownFull
	p := fields{}.u32(2).u64(0x8003).u32(5).str("P").str("k=v").u64(0).u32(0).str("Q").str("")
	filtered := fields{}.u32(2).
		u64(0x8003).u32(5).str("P").str("k=v").u8(1).u32(2).u32(1).u32(2).
		u64(0).u32(0).str("Q").str("").u8(0).u32(0)
	join := func(a, b fields) fields { return append(a, b...) }
	for _, test := range []struct {
		cmd    command
		config *Config
		want   fields
	}{
		{cmdCollectTracing, &config, join(fields{}.u32(256).u32(1), p)},
		{cmdCollectTracing2, &config, join(fields{}.u32(256).u32(1).u8(0), p)},
		{cmdCollectTracing2, &full, join(fields{}.u32(256).u32(1).u8(1), p)},
		{cmdCollectTracing3, &config, join(fields{}.u32(256).u32(1).u8(0).u8(0), p)},
		{cmdCollectTracing4, &config, join(fields{}.u32(256).u32(1).u64(1).u8(0), p)},
		{cmdCollectTracing5, &config, join(fields{}.u32(0).u32(256).u32(1).u64(1).u8(0), filtered)},
		{cmdCollectTracing6, &config, join(fields{}.u32(0).u32(256).u32(1).u64(1).u8(0), filtered).u32(1)},
	} {
		granted := test.config.grantedBy(test.cmd)
		got, err := granted.request(test.cmd).encode()
		if want := test.want.message(test.cmd); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %v\n got %x\nwant %x", test.cmd, err, got, want)
		}
	}
}

// TestNeeds: a config is sent in the oldest form that can express all of it.
func TestNeeds(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   command
	}{
		{Config{}, cmdCollectTracing2},
		{Config{Rundown: RundownFull}, cmdCollectTracing2},
		{Config{NoStacks: true}, cmdCollectTracing3},
		{Config{Rundown: RundownGC}, cmdCollectTracing4},
		{Config{Rundown: RundownGC, Providers: []Provider{{Events: []uint32{1}}}}, cmdCollectTracing5},
		{Config{Providers: []Provider{{Events: []uint32{}}}}, cmdCollectTracing5},
		{Config{Providers: []Provider{{Except: []uint32{1}}}}, cmdCollectTracing5},
		{Config{Providers: []Provider{{Except: []uint32{}}}}, cmdCollectTracing2},
		{Config{Block: true}, cmdCollectTracing6},
	} {
		if got := test.config.needs(); got != test.want {
			t.Errorf("%+v: %v, want %v", test.config, got, test.want)
		}
	}
}

// TestFallback: an older runtime gets a command that it knows, and the session reports
// the config that was granted.
func TestFallback(t *testing.T) {
	config := Config{
		BufferMB: 1, Rundown: RundownGC, NoStacks: true, Block: true,
		Providers: []Provider{{Name: "P", Level: 4, Events: []uint32{1}}},
	}
	for knows := cmdCollectTracing; knows <= cmdCollectTracing6; knows++ {
		f := newFake(t, func(cmd command, _ []byte) []byte {
			if cmd > knows {
				return refuse(UnknownCommand)
			}
			return append(ok(fields{}.u64(0xfeed_0000_0000_0001)), "Nettrace"...)
		})
		s, err := f.client().Collect(context.Background(), config)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 8)
		if n, err := s.Read(b); err != nil || string(b[:n]) != "Nettrace" {
			t.Errorf("read %q, %v", b[:n], err)
		}
		s.in.Close()
		g := s.Config
		rundown := map[bool]uint64{true: RundownGC}[knows >= cmdCollectTracing4]
		if knows == cmdCollectTracing {
			rundown = RundownFull
		}
		if s.ID != 0xfeed_0000_0000_0001 || s.Command != knows.String() || len(f.asked) != int(cmdCollectTracing6-knows)+1 ||
			g.Block != (knows >= cmdCollectTracing6) || (g.Providers[0].Events != nil) != (knows >= cmdCollectTracing5) ||
			g.Rundown != rundown || g.NoStacks != (knows >= cmdCollectTracing3) {
			t.Errorf("%v: %x by %s after %v, granted %+v", knows, s.ID, s.Command, f.asked, g)
		}
	}
	if config.Providers[0].Events == nil || !config.Block {
		t.Error("the caller's config was changed")
	}
}
