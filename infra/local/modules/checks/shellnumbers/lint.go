package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script is one file.
type script struct {
	name string
	file *syntax.File
}

func parse(name, text string) (*script, error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	return &script{name, file}, nil
}

// place is a line of a file.
type place struct {
	file string
	line uint
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

type finding struct {
	at      place
	message string
}

func (f finding) String() string { return fmt.Sprintf("%s: %s", f.at, f.message) }

// program is a set of scripts that share their variables.
type program struct {
	scripts     []*script
	scopes      map[*syntax.FuncDecl]*scope
	global      *scope
	declared    map[*syntax.Lit]bool    // names where a function declares them its own
	shared      map[string]bool         // names that are the same variable everywhere
	assignments map[string][]assignment // by key of a variable
	hasNumber   bool                    // there is the function number
	numbers     map[string]bool         // keys of variables that hold nothing but numbers
	blame       map[string]assignment   // by key of any other variable that is set: why
	findings    []finding
}

// lint returns the findings in files that share their variables, in their order.
func lint(scripts []*script) []finding {
	p := &program{
		scripts:     scripts,
		scopes:      map[*syntax.FuncDecl]*scope{},
		global:      newScope(nil, nil),
		declared:    map[*syntax.Lit]bool{},
		shared:      map[string]bool{},
		assignments: map[string][]assignment{},
	}
	p.walk(p.declare)
	p.walk(p.share)
	p.walk(p.collect)
	p.solve()
	p.walk(p.check)
	p.checkSpecial()
	return p.sorted()
}

func (p *program) sorted() []finding {
	order := map[string]int{}
	for i, s := range p.scripts {
		order[s.name] = i
	}
	slices.SortStableFunc(p.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(order[a.at.file], order[b.at.file]), cmp.Compare(a.at.line, b.at.line))
	})
	return slices.Compact(p.findings)
}

// spot is where in a program a node stands.
type spot struct {
	*program
	script *script
	scope  *scope
	line   uint // of all nodes, if they were parsed out of another one
}

func (s spot) place(node syntax.Node) place {
	if s.line != 0 {
		return place{s.script.name, s.line}
	}
	return place{s.script.name, node.Pos().Line()}
}

func (s spot) report(node syntax.Node, format string, args ...any) {
	s.findings = append(s.findings, finding{s.place(node), fmt.Sprintf(format, args...)})
}

// within says whether s is in the body of the function name.
func (s spot) within(name string) bool {
	for scope := s.scope; scope != nil; scope = scope.outer {
		if scope.function != nil && scope.function.Name.Value == name {
			return true
		}
	}
	return false
}

// walk calls visit for each node of each script.
func (p *program) walk(visit func(spot, syntax.Node)) {
	for _, script := range p.scripts {
		scope := p.global
		var path []syntax.Node
		syntax.Walk(script.file, func(node syntax.Node) bool {
			if node == nil {
				if f, ok := path[len(path)-1].(*syntax.FuncDecl); ok {
					scope = p.scopes[f].outer
				}
				path = path[:len(path)-1]
				return true
			}
			path = append(path, node)
			if f, ok := node.(*syntax.FuncDecl); ok {
				scope = p.enter(f, scope)
			}
			visit(spot{program: p, script: script, scope: scope}, node)
			return true
		})
	}
}

func (p *program) allScopes() []*scope {
	return append(slices.Collect(maps.Values(p.scopes)), p.global)
}

func (p *program) enter(f *syntax.FuncDecl, outer *scope) *scope {
	if p.scopes[f] == nil {
		p.scopes[f] = newScope(f, outer)
	}
	return p.scopes[f]
}
