package open

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// describe names a kind of input that has no magic number.
func describe(head []byte) kind {
	switch text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))); {
	case len(head) == 0:
		return kind{
			looks: "an empty file",
			hint:  "the program may still be running: .NET 8 and older write their trace when it exits; otherwise, " + hintCollect,
		}
	case len(bytes.Trim(head, "\x00")) == 0:
		return kind{
			looks: "nothing but zeros at its start",
			hint:  "it was preallocated but never written, or not copied completely: copy it again",
		}
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return kind{looks: "text in UTF-16", hint: hintReads}
	case !isText(head):
		return kind{
			looks: fmt.Sprintf("unknown data that begins with % x", head[:min(8, len(head))]),
			hint:  hintReads, vague: true,
		}
	case hasPrefixFold(text, "<!doctype html"), hasPrefixFold(text, "<html"):
		return kind{
			looks: "a web page",
			hint:  "a login page is often saved in place of a download: download the file again",
		}
	case hasPrefixFold(text, "<?xml"):
		return kind{looks: "XML", hint: hintReads, vague: true}
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return kind{looks: "JSON", hint: hintReads, vague: true}
	default:
		return kind{looks: "text that begins with " + strconv.Quote(firstWords(text)), hint: hintReads}
	}
}

// isText reports whether head is UTF-8 without control characters, except the ones of
// text. It may end within a character.
func isText(head []byte) bool {
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head[i:])
		}
		if unicode.IsControl(r) && !strings.ContainsRune("\t\n\v\f\r\x1b", r) {
			return false
		}
		i += n
	}
	return true
}

// firstWords returns the start of the first line of text, whole words if it
// can.
func firstWords(text []byte) string {
	const limit = 40
	line, _, _ := strings.Cut(strings.ToValidUTF8(string(text), ""), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	short := string([]rune(line)[:limit])
	if i := strings.LastIndexByte(short, ' '); i > 0 {
		short = short[:i]
	}
	return short + "…"
}

func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(string(text[:len(prefix)]), prefix)
}

// enumerate joins the first few names, and counts the rest.
func enumerate(names []string) string {
	const limit = 3
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// printable returns name as it can be shown on a terminal.
func printable(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return name
	}
	return strconv.QuoteToGraphic(name)
}
