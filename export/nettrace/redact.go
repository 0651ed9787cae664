package nettrace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/gctrail/gctrail/clr"
)

// kept are the fields that redaction does not change, because the runtime
// itself writes them, or because gctrail writes nothing into them that names anything.
var kept = map[clr.Kind][]string{
	clr.KindProcessInfo:    {"OSInformation", "ArchInformation"},
	clr.KindGCDynamicEvent: {"Name"},
	clr.KindProcessLimits:  {"Settings"},
}

// Unredacted returns the fields that redaction does not change, as event.field.
func Unredacted() []string {
	var all []string
	for kind, fields := range kept {
		for _, field := range fields {
			all = append(all, fmt.Sprintf("%s.%s", kind, field))
		}
	}
	all = append(all, "the version in RuntimeInformation.RuntimeDllPath")
	return slices.Sorted(slices.Values(all))
}

// maxHashed bounds the strings whose hashes are remembered.
const maxHashed = 1 << 16

// A Redactor replaces strings with hashes under its own key. Equal strings have
// equal hashes within one trace, so types, methods and stacks can be
// distinguished.
type Redactor struct {
	key    [32]byte
	hashed map[string]string
}

// NewRedactor returns a Redactor with a random key.
func NewRedactor() *Redactor {
	r := &Redactor{hashed: make(map[string]string)}
	_, _ = rand.Read(r.key[:]) // which never fails
	return r
}

// name returns the hash of a string.
func (r *Redactor) name(s string) string {
	h, known := r.hashed[s]
	if !known {
		mac := hmac.New(sha256.New, r.key[:])
		mac.Write([]byte(s))
		h = "x" + hex.EncodeToString(mac.Sum(nil)[:6])
		if len(r.hashed) == maxHashed {
			clear(r.hashed)
		}
		r.hashed[s] = h
	}
	return h
}

// sharedRuntime is the folder in which .NET is installed, in a folder for each
// version. The version there distinguishes .NET Core 2 from 3, whose events
// have other numbers.
const sharedRuntime = "Microsoft.NETCore.App"

// runtimePath hashes the path of the runtime's library up to the folder of .NET.
func (r *Redactor) runtimePath(path string) string {
	i := strings.LastIndex(path, sharedRuntime)
	if i < 0 {
		return r.name(path)
	}
	return r.name(path[:i]) + "/" + strings.ReplaceAll(path[i:], `\`, "/")
}
