package collect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/gctrail/gctrail/clr"
	"github.com/gctrail/gctrail/diag"
	"github.com/gctrail/gctrail/internal/selection"
)

const levelLogAlways = 0

// Providers is a flag that takes providers as dotnet-trace's --providers
// does (its ProviderUtils.cs): Name[:Keywords[:Level[:key=value;...]]] with
// commas between them. A provider that is named again gets more keywords.
type Providers []diag.Provider

func (l *Providers) Type() string { return "PROVIDER,..." }

func (l *Providers) String() string { return "" }

func (l *Providers) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		p, err := parseProvider(part)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		if err := l.join(p); err != nil {
			return err
		}
	}
	return nil
}

// join adds a provider, or its keywords and level to the provider of the same name.
func (l *Providers) join(p diag.Provider) error {
	known := l.Find(p.Name)
	if known == nil {
		*l = append(*l, p)
		return nil
	}
	if known.Arguments != "" && p.Arguments != "" {
		return fmt.Errorf("provider %s has arguments twice", p.Name)
	}
	known.Keywords |= p.Keywords
	known.Arguments += p.Arguments
	if known.Level == levelLogAlways || p.Level == levelLogAlways {
		known.Level = levelLogAlways
	} else {
		known.Level = max(known.Level, p.Level)
	}
	return nil
}

// add adds a provider unless there is one of its name, and reports whether it did.
func (l *Providers) add(p diag.Provider) bool {
	if l.Find(p.Name) != nil {
		return false
	}
	*l = append(*l, p)
	return true
}

func (l *Providers) Find(name string) *diag.Provider {
	for i := range *l {
		if p := &(*l)[i]; strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// parseProvider reads one provider. Parts may be empty: keywords are then 0,
// and the level is informational.
func parseProvider(s string) (diag.Provider, error) {
	var parts [4]string
	copy(parts[:], strings.SplitN(s, ":", len(parts)))
	p := diag.Provider{Name: parts[0], Level: clr.LevelInformational}
	if strings.TrimSpace(p.Name) == "" {
		return p, errors.New("a provider has no name")
	}
	var err error
	if strings.TrimSpace(parts[1]) != "" {
		if p.Keywords, err = parseProviderKeywords(parts[1]); err != nil {
			return p, err
		}
	}
	if strings.TrimSpace(parts[2]) != "" {
		if p.Level, err = parseProviderLevel(parts[2]); err != nil {
			return p, err
		}
	}
	if strings.TrimSpace(parts[3]) != "" {
		p.Arguments, err = parseProviderArguments(parts[3])
	}
	return p, err
}

func parseProviderKeywords(s string) (uint64, error) {
	digits := s
	if len(s) > 2 && strings.EqualFold(s[:2], "0x") {
		digits = s[2:]
	}
	bits, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("keywords must be a hexadecimal number, not %q", s)
	}
	return bits, nil
}

// parseProviderLevel takes any number: numbers beyond verbose mean verbose.
func parseProviderLevel(s string) (uint8, error) {
	if n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32); err == nil && n >= 0 {
		return uint8(min(n, clr.LevelVerbose)), nil
	}
	var l selection.Level
	if err := l.Set(s); err != nil {
		return 0, fmt.Errorf("level %q: %w", s, err)
	}
	return l.Max, nil
}

// parseProviderArguments reads key=value pairs with semicolons between them, in
// which quotes keep both, and writes them as a runtime takes them.
func parseProviderArguments(s string) (string, error) {
	s, err := unescape(s)
	if err != nil {
		return "", err
	}
	var pairs []string
	seen := make(map[string]bool)
	add := func(keyStart, keyEnd, valueStart, valueEnd int) error {
		if keyEnd < keyStart || valueEnd < valueStart {
			return fmt.Errorf("arguments must be key=value;..., not %q", s)
		}
		key, value := s[keyStart:keyEnd], s[valueStart:valueEnd]
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		if seen[key] {
			return fmt.Errorf("argument %q is given twice", key)
		}
		seen[key] = true
		pairs = append(pairs, quotedArgument(key)+"="+quotedArgument(value))
		return nil
	}
	var keyStart, keyEnd, valueStart, valueEnd int
	quote := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quote = !quote
		case quote:
		case s[i] == '=':
			keyEnd, valueStart = i, i+1
		case s[i] == ';':
			valueEnd = i
			if err := add(keyStart, keyEnd, valueStart, valueEnd); err != nil {
				return "", err
			}
			keyStart = i + 1
		}
	}
	if valueStart > valueEnd {
		valueEnd = len(s)
	}
	if keyStart < keyEnd {
		if err := add(keyStart, keyEnd, valueStart, valueEnd); err != nil {
			return "", err
		}
	}
	return strings.Join(pairs, ";"), nil
}

// quotedArgument returns a key or value as EventPipeProvider of the .NET client
// library writes it.
func quotedArgument(s string) string {
	if strings.ContainsAny(s, ";=") {
		return `"` + s + `"`
	}
	return s
}

// escapes are the escapes of one letter that .NET's Regex.Unescape knows.
var escapes = map[byte]byte{'a': 7, 'b': 8, 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

// unescape is .NET's Regex.Unescape without control characters (\cA).
func unescape(s string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if rest == "" {
			return "", errors.New(`a \ is at the end of the arguments`)
		}
		s = rest[1:]
		switch c := rest[0]; {
		case escapes[c] != 0:
			b.WriteByte(escapes[c])
		case c == 'x', c == 'u':
			n := map[byte]int{'x': 2, 'u': 4}[c]
			v, err := strconv.ParseUint(s[:min(n, len(s))], 16, 16)
			if err != nil || len(s) < n {
				return "", fmt.Errorf(`\%c is followed by %d hexadecimal digits`, c, n)
			}
			b.WriteString(string(utf16.Decode([]uint16{uint16(v)})))
			s = s[n:]
		case '0' <= c && c <= '7':
			n := 1
			for n < min(3, len(rest)) && '0' <= rest[n] && rest[n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(rest[:n], 8, 16)
			b.WriteRune(rune(v & 0xff))
			s = rest[n:]
		case c == '_', '8' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			return "", fmt.Errorf(`\%c means nothing, \\ is a backslash`, c)
		default:
			b.WriteByte(c)
		}
	}
}
