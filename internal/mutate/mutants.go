package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// mutant is one small fault in one file: text replaces the bytes from start to end.
type mutant struct {
	file       string // slash path from the root of the module
	function   string // the declaration that contains it; "" = none
	line       int
	source     string // the original line, without blanks around it
	change     string // "< → <="
	start, end int    // offsets in the file
	text       string
}

// operators are replaced one by one.
var operators = map[token.Token]token.Token{ //nolint:gochecknoglobals // a constant table
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC, token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK,
}

// mutants lists every fault that can be planted into a file. Some do not compile, such as a
// difference of two strings; plant reports them as unbuilt.
func mutants(file string) ([]mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, d := range f.Decls {
		function := ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			function = fn.Name.Name
		} else if d.(*ast.GenDecl).Tok == token.IMPORT {
			continue
		}
		add := func(pos token.Pos, was, is string) {
			at := set.Position(pos)
			lineStart, toEnd := bytes.LastIndexByte(text[:at.Offset], '\n')+1, bytes.IndexByte(text[at.Offset:], '\n')
			m := mutant{
				file: file, function: function, line: at.Line, start: at.Offset, end: at.Offset + len(was), text: is,
				source: field(string(text[lineStart : at.Offset+toEnd])), change: was + " → " + is,
			}
			if is == "" {
				m.change = field(was) + " is left out"
			}
			all = append(all, m)
		}
		swap := func(pos token.Pos, was token.Token) {
			if is, ok := operators[was]; ok {
				add(pos, was.String(), is.String())
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				swap(n.OpPos, n.Op)
			case *ast.AssignStmt:
				swap(n.TokPos, n.Tok)
			case *ast.IncDecStmt:
				swap(n.TokPos, n.Tok)
			case *ast.BranchStmt:
				swap(n.TokPos, n.Tok)
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, "!", "")
				}
			case *ast.ExprStmt:
				add(n.Pos(), string(text[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset]), "")
			case *ast.Ident:
				if n.Name == "true" || n.Name == "false" {
					add(n.Pos(), n.Name, strconv.FormatBool(n.Name == "false"))
				}
			case *ast.BasicLit:
				if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil && n.Kind == token.INT {
					add(n.Pos(), n.Value, strconv.FormatInt(v+1, 10))
				}
			}
			return true
		})
	}
	return all, nil
}

// field returns a text as a field of survivors.txt, which has no tab and no line break: the first line, with … in the
// place of all others.
func field(text string) string {
	first, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		first += " …"
	}
	return strings.ReplaceAll(first, "\t", " ")
}
