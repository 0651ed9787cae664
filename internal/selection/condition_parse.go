package selection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gctrail/gctrail/internal/text"
)

// A ConditionError describes a mistake in the text of a condition, and its place.
type ConditionError struct {
	Text string
	Off  int // bytes of Text before the mistake
	What string
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("%s, at character %d", e.What, utf8.RuneCountInString(e.Text[:e.Off])+1)
}

// maxDepth bounds how deep parentheses nest.
const maxDepth = 100

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenOperator
	tokenOpen
	tokenClose
	tokenOther
)

type token struct {
	kind tokenKind
	text string
	off  int
	op   operator
}

func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// is reports whether the token is a word, in either case.
func (t token) is(word string) bool { return t.kind == tokenWord && strings.EqualFold(t.text, word) }

type parser struct {
	text string
	off  int // behind tok
	tok  token

	asked      *word // the first figure
	ofRequests bool
}

func (p *parser) wrong(format string, args ...any) error {
	return &ConditionError{p.text, p.tok.off, fmt.Sprintf(format, args...)}
}

// next goes to the next token.
func (p *parser) next() {
	rest := strings.TrimLeft(p.text[p.off:], " \t\r\n")
	p.off = len(p.text) - len(rest)
	p.tok = token{off: p.off}
	switch n := wordLength(rest); {
	case rest == "":
		return
	case n > 0:
		p.tok.kind, p.tok.text = tokenWord, rest[:n]
	case rest[0] == '(':
		p.tok.kind, p.tok.text = tokenOpen, "("
	case rest[0] == ')':
		p.tok.kind, p.tok.text = tokenClose, ")"
	default:
		p.operator(rest)
	}
	p.off += len(p.tok.text)
}

func (p *parser) operator(rest string) {
	for _, o := range operators {
		if strings.HasPrefix(rest, o.text) {
			p.tok.kind, p.tok.text, p.tok.op = tokenOperator, o.text, o.is
			return
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	p.tok.kind, p.tok.text = tokenOther, rest[:n]
}

// wordLength returns the length of the name or value that s begins with.
func wordLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return r < utf8.RuneSelf && !isWord(byte(r)) || r >= utf8.RuneSelf && r != 'µ' && r != 'μ'
	})
	if n < 0 {
		return len(s)
	}
	return n
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("._%/+-", b) >= 0
}

// either reads parts joined by or.
func (p *parser) either(depth int) (node, error) { return p.joined("or", depth, p.both) }

// both reads parts joined by and.
func (p *parser) both(depth int) (node, error) { return p.joined("and", depth, p.single) }

// joined reads parts with a word between them, of which the first may be the only one.
func (p *parser) joined(word string, depth int, part func(depth int) (node, error)) (node, error) {
	var parts []node
	for {
		n, err := part(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
		if !p.tok.is(word) {
			break
		}
		p.next()
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return joined(parts, word == "or"), nil
}

// single reads a comparison, or a condition in parentheses.
func (p *parser) single(depth int) (node, error) {
	if p.tok.kind != tokenOpen {
		return p.comparison()
	}
	if depth == maxDepth {
		return nil, p.wrong("more than %d nested parentheses", maxDepth)
	}
	p.next()
	inner, err := p.either(depth + 1)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenClose {
		return nil, p.wrong(`%s where and, or or ")" is expected`, p.tok)
	}
	p.next()
	return inner, nil
}

func (p *parser) comparison() (node, error) {
	if p.tok.kind != tokenWord {
		return nil, p.wrong("%s where a figure is expected: one of %s", p.tok, names())
	}
	all := words()
	i := slices.IndexFunc(all, func(w word) bool { return p.tok.is(w.Until.Word) })
	if i < 0 {
		return nil, p.wrong("unknown figure %s; valid figures: %s", p.tok, names())
	}
	f := &all[i]
	if p.asked == nil {
		p.asked, p.ofRequests = f, f.ofRequest
	}
	if f.ofRequest != p.ofRequests {
		of := [...]*word{p.asked, f}
		if f.ofRequest {
			of[0], of[1] = of[1], of[0]
		}
		return nil, p.wrong("%s is of requests, and %s of collections: a condition is of one of both", of[0].Until.Word, of[1].Until.Word)
	}
	p.next()
	if p.tok.kind != tokenOperator {
		return nil, p.wrong("%s where one of > >= < <= = != is expected", p.tok)
	}
	op := p.tok.op
	if f.in == nil && op != equal && op != unequal {
		return nil, p.wrong("%s is a word: compare it with = or !=", f.Until.Word)
	}
	p.next()
	if f.in == nil {
		return p.name(f, op)
	}
	return p.amount(f, op)
}

func (p *parser) name(f *word, op operator) (node, error) {
	words := f.Until.Words()
	i := slices.IndexFunc(words, p.tok.is)
	if i < 0 {
		return nil, p.wrong("unknown %[2]s %[1]s; valid values: %[3]s", p.tok, f.Until.Word, strings.Join(words, ", "))
	}
	p.next()
	return name(f.of, op, words[i]), nil
}

// amount reads a number with its unit, which may stand apart.
func (p *parser) amount(f *word, op operator) (node, error) {
	first := p.tok
	p.next()
	if p.tok.kind == tokenWord && endsInDigit(first.text) {
		if v, ok := f.parse(first.text + p.tok.text); ok {
			p.next()
			return amount(f.of, op, v), nil
		}
	}
	v, ok := f.parse(first.text)
	if !ok {
		p.tok = first
		return nil, p.wrong("%s is %s, as in %s, and not %s", f.Until.Word, f.in.Is, f.in.Example, first)
	}
	return amount(f.of, op, v), nil
}

// parse reads a number with its unit. Zero needs none, because it is the same in every unit.
func (w *word) parse(s string) (float64, bool) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµμ%/")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || v < 0 || digits[0] == '+' || strings.ContainsAny(digits, "eExX_") {
		return 0, false
	}
	name := strings.Replace(s[len(digits):], "μ", "µ", 1)
	if name == "" {
		return v, (w.in.Bare || v == 0) && (w.Until.Below == 0 || v < float64(w.Until.Below))
	}
	for _, u := range w.in.Units {
		if strings.EqualFold(u.Name, name) {
			return v * u.Size, true
		}
	}
	return 0, false
}

func endsInDigit(s string) bool { return s != "" && '0' <= s[len(s)-1] && s[len(s)-1] <= '9' }

func names() string {
	return strings.Join(text.Each(words(), func(w *word) string { return w.Until.Word }), ", ")
}
