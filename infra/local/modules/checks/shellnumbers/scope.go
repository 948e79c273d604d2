package main

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// scope is what a function declares, or what stands outside of all.
type scope struct {
	function    *syntax.FuncDecl
	outer       *scope
	locals      map[string]syntax.Pos // by name: the end of its first declaration
	associative map[string]bool       // by declared name: whether with -A
	arrays      map[string]bool       // names that are arrays, of either kind
}

func newScope(f *syntax.FuncDecl, outer *scope) *scope {
	return &scope{
		function:    f,
		outer:       outer,
		locals:      map[string]syntax.Pos{},
		associative: map[string]bool{},
		arrays:      map[string]bool{},
	}
}

// isAssociative says whether the subscripts of name are text. They are not if only some
// other function declares it so: which functions call this one is not looked at.
func (s spot) isAssociative(name string) bool {
	if associative, ok := s.scope.associative[name]; ok {
		return associative
	}
	return s.global.associative[name]
}

// mayBeAssociative says the same, but also if a function that calls this one may declare
// name so.
func (s spot) mayBeAssociative(name string) bool {
	return s.isAssociative(name) || s.shared[name] &&
		slices.ContainsFunc(s.allScopes(), func(s *scope) bool { return s.associative[name] })
}

// declaration is a declare command, or one of its kind.
type declaration struct {
	*syntax.DeclClause
	flags string // letters of all its options
	scope *scope // of its variables
}

func (s spot) declaration(clause *syntax.DeclClause) declaration {
	d := declaration{DeclClause: clause, scope: s.global}
	for _, a := range clause.Args {
		if option, ok := option(a); ok {
			d.flags += option
		}
	}
	switch clause.Variant.Value {
	case "local":
		d.scope = s.scope
	case "declare", "typeset":
		if !d.has("g") {
			d.scope = s.scope
		}
	}
	return d
}

// option returns the letters of an argument that is an option.
func option(a *syntax.Assign) (letters string, ok bool) {
	if a.Name != nil || a.Value == nil {
		return "", false
	}
	text, ok := static(a.Value)
	switch {
	case ok && strings.HasPrefix(text, "-"):
		return text[1:], true
	case ok && strings.HasPrefix(text, "+"): // takes an attribute away
		return "", true
	}
	return "", false
}

// has says whether d has one of the options.
func (d declaration) has(letters string) bool { return strings.ContainsAny(d.flags, letters) }

// isLocal says whether d makes variables that begin empty.
func (d declaration) isLocal() bool { return d.scope.function != nil }

// declare notes functions, and which variables are arrays, of which kind, and whose.
func (p *program) declare(s spot, node syntax.Node) {
	switch node := node.(type) {
	case *syntax.FuncDecl:
		p.hasNumber = p.hasNumber || node.Name.Value == "number"
	case *syntax.DeclClause:
		s.declareClause(s.declaration(node))
	case *syntax.Assign:
		if node.Name != nil && (node.Array != nil || node.Index != nil) {
			s.scope.arrays[node.Name.Value] = true
		}
	case *syntax.CallExpr:
		c := newCommand(node)
		for _, t := range c.targets {
			if t.isElement || c.arrays {
				s.scope.arrays[t.name] = true
			}
		}
	}
}

func (s spot) declareClause(d declaration) {
	for _, a := range d.Args {
		if a.Name == nil {
			continue
		}
		name := a.Name.Value
		if _, ok := d.scope.locals[name]; d.isLocal() && !ok && !d.has("I") {
			d.scope.locals[name] = d.End()
		}
		if d.isLocal() || d.has("A") {
			d.scope.associative[name] = d.scope.associative[name] || d.has("A")
		}
		if d.has("aA") {
			d.scope.arrays[name] = true
		}
	}
}

// share notes names that are not one function's own. Bash shows the variables of a
// function to all that it calls, so such a name is one variable wherever it occurs. Any
// word counts that could be the name.
func (p *program) share(s spot, node syntax.Node) {
	switch node := node.(type) {
	case *syntax.DeclClause:
		d := s.declaration(node)
		for _, a := range d.Args {
			if a.Name != nil && d.isLocal() {
				p.declared[a.Name] = true
			}
		}
	case *syntax.Lit:
		if !p.declared[node] {
			s.mention(node, node.Value)
		}
	case *syntax.CallExpr:
		for _, t := range newCommand(node).targets {
			s.mention(t.word, t.name)
			for _, name := range identifiers.FindAllString(t.subscript, -1) {
				s.mention(t.word, name)
			}
		}
	}
}

// mention notes the name at a node. A declaration makes it the function's own only behind
// it: local x=$x reads the x of somebody else.
func (s spot) mention(node syntax.Node, name string) {
	declared, ok := s.scope.locals[name]
	if !ok || declared.After(node.Pos()) {
		s.shared[name] = true
	}
}

// key tells apart variables of one name that different functions have for themselves.
func (s spot) key(name string) string {
	if _, ok := s.scope.locals[name]; ok && !s.shared[name] {
		return fmt.Sprintf("%s %s:%d", name, s.script.name, s.scope.function.Pos().Offset())
	}
	return name
}
