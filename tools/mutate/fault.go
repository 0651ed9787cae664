package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A fault replaces a part of a file.
type fault struct {
	path       string
	source     []byte
	line       int
	start, end int // of the part
	with       string
}

func (f *fault) apply() []byte {
	return slices.Concat(f.source[:f.start], []byte(f.with), f.source[f.end:])
}

func (f fault) String() string {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	lines := strings.Split(string(f.source), "\n")
	return fmt.Sprintf("%s:%d: %s: %q for %q", filepath.Base(f.path), f.line, flat(lines[f.line-1]), flat(f.with), flat(string(f.source[f.start:f.end])))
}

// operators has what takes the place of an operator.
var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.SHL: {token.SHR}, token.SHR: {token.SHL}, token.AND: {token.OR}, token.OR: {token.AND}, token.AND_NOT: {token.AND},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.INC: {token.DEC}, token.DEC: {token.INC},
}

// A finder looks for faults in a file.
type finder struct {
	path   string
	source []byte
	files  *token.FileSet
	all    []fault
}

// faultsOf returns the faults of a file; none of one that is generated.
func faultsOf(path string) ([]fault, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &finder{path: path, source: source, files: token.NewFileSet()}
	parsed, err := parser.ParseFile(f.files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return nil, err
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.CONST || d.Tok == token.VAR {
				ast.Inspect(d, f.visit(nil))
			}
		case *ast.FuncDecl:
			if d.Body != nil {
				ast.Inspect(d.Body, f.visit(d.Type.Results))
			}
		}
	}
	return f.all, nil
}

// add adds a fault of the source from one position to another.
func (f *finder) add(start, end token.Pos, with string) {
	p := f.files.Position(start)
	f.all = append(f.all, fault{f.path, f.source, p.Line, p.Offset, f.files.Position(end).Offset, with})
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.files.Position(n.Pos()).Offset:f.files.Position(n.End()).Offset])
}

func (f *finder) operator(at token.Pos, op token.Token) {
	for _, with := range operators[op] {
		f.add(at, at+token.Pos(len(op.String())), with.String())
	}
}

// visit finds the faults of a function with these results, and of the functions inside it.
func (f *finder) visit(results *ast.FieldList) func(ast.Node) bool {
	return func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			ast.Inspect(n.Body, f.visit(n.Type.Results))
			return false
		case *ast.CallExpr:
			// How much is made room for makes no difference.
			if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "make" {
				return false
			}
		case *ast.ArrayType:
			return false
		case *ast.BinaryExpr:
			f.operator(n.OpPos, n.Op)
		case *ast.BasicLit:
			f.number(n)
		case *ast.IfStmt:
			f.add(n.Cond.Pos(), n.Cond.End(), "!("+f.text(n.Cond)+")")
		case *ast.IncDecStmt:
			f.operator(n.TokPos, n.Tok)
			f.add(n.Pos(), n.End(), "")
		case *ast.ExprStmt:
			f.add(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				f.operator(n.TokPos, n.Tok)
				f.add(n.Pos(), n.End(), "")
			}
		case *ast.ReturnStmt:
			f.zero(n, results)
		}
		return true
	}
}

// number replaces an integer by its neighbours.
func (f *finder) number(n *ast.BasicLit) {
	v, err := strconv.ParseInt(n.Value, 0, 64)
	if n.Kind != token.INT || err != nil {
		return
	}
	f.add(n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
	if v > 0 {
		f.add(n.Pos(), n.End(), strconv.FormatInt(v-1, 10))
	}
}

// zero returns zero values in place of a function's results, unless they are such.
func (f *finder) zero(n *ast.ReturnStmt, results *ast.FieldList) {
	if results == nil || len(n.Results) != results.NumFields() {
		return
	}
	var values []string
	same := true
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			values = append(values, "*new("+f.text(field.Type)+")")
		}
	}
	for _, r := range n.Results {
		made, is := r.(*ast.CompositeLit)
		same = same && (is && len(made.Elts) == 0 || slices.Contains([]string{"nil", "false", "0", `""`}, f.text(r)))
	}
	if !same {
		f.add(n.Results[0].Pos(), n.Results[len(n.Results)-1].End(), strings.Join(values, ", "))
	}
}
