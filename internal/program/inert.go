package program

import (
	"strconv"
	"strings"
	"unicode"
)

// Inert returns a name of the traced program for a sentence. A name that could be taken for
// a part of the sentence is quoted, because whoever wrote the program, or a library that it
// loads, chose it.
func Inert(name string) string {
	depth, previous := 0, rune(0)
	for _, r := range name {
		switch {
		case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r): // some blanks are letters
			return strconv.Quote(name)
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune("._+`{}<>,&*$@|!:=/-", r):
		case r == '(', r == '[':
			depth++
		case r == ')', r == ']':
			depth--
		case r == ' ' && previous == ',' && depth > 0: // between parameters
		default:
			return strconv.Quote(name)
		}
		previous = r
	}
	return name
}
