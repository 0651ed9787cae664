package text

import (
	"runtime"
	"strings"

	"github.com/gctrail/gctrail/internal/units"
)

// Plural returns a number with the word that goes with it.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return units.Count(n) + " " + many
}

// Noun returns a word in the number that goes with n.
func Noun(n int, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

// Sentence returns s with its first letter, of ASCII, in upper case.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Counted returns a number with its word.
func Counted(n int, one string) string { return units.Count(n) + " " + Noun(n, one) }

// Quoted writes a path as a shell takes it.
func Quoted(path string) string {
	return quotedFor(runtime.GOOS, path)
}

// quotedFor quotes for the shells of a system. On Windows, a word in double quotes is
// the same for cmd.exe and PowerShell, unless PowerShell would expand it.
func quotedFor(system, path string) string {
	unquoted := "_-./:+,@%"
	if system == "windows" {
		unquoted = `_-./:+\`
	}
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(unquoted, r)
	}
	switch {
	case path != "" && strings.IndexFunc(path, func(r rune) bool { return !safe(r) }) < 0:
		return path
	case system != "windows":
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	case strings.ContainsAny(path, "\"$`"):
		return "'" + strings.ReplaceAll(path, "'", "''") + "'"
	default:
		return `"` + path + `"`
	}
}

// QuotedWords writes the words of a command line as a shell takes them.
func QuotedWords(words []string) string {
	return strings.Join(Each(words, func(word *string) string { return Quoted(*word) }), " ")
}

// Words returns the words of a line that Quoted wrote, joined by spaces.
func Words(line string) []string { return wordsFor(runtime.GOOS, line) }

func wordsFor(system, line string) []string {
	var all []string
	var word strings.Builder
	var quote byte // that is open; 0 for none
	begun := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
			if system == "windows" && c == '\'' && strings.HasPrefix(line[i+1:], "'") {
				word.WriteByte(c) // which doubles it
				quote = c
				i++
			}
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && c == '\\' && system != "windows" && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			begun = true
		case quote == 0 && c == ' ':
			if begun {
				all = append(all, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// markup replaces the characters that Markdown would treat as markup, or as the end of a
// cell. It includes the backslash, which would otherwise escape the one before a bar.
var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "'", "*", `\*`, "_", `\_`, "[", `\[`, "#", `\#`)

// Markdown cleans text, and escapes it so that it is neither markup nor the end of a
// table's cell.
func Markdown(s string) string { return markup.Replace(Clean(s)) }
