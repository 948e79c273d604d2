package main

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// kind is what is known of an assigned value.
type kind int

const (
	text   kind = iota // may be anything
	number             // is a number, or empty
	word               // is what a word expands to
	words              // the same, as several values
)

// assignment is one place where a variable gets a value.
type assignment struct {
	spot
	node syntax.Node
	name string
	kind kind
	word *syntax.Word // of the kinds that need one
}

func (s spot) assign(node syntax.Node, name string, k kind, w *syntax.Word) {
	if w == nil && (k == word || k == words) {
		k = number
	}
	key := s.key(name)
	s.assignments[key] = append(s.assignments[key], assignment{s, node, name, k, w})
}

// collect notes every assignment.
func (p *program) collect(s spot, node syntax.Node) {
	switch node := node.(type) {
	case *syntax.CallExpr:
		for _, a := range node.Assigns {
			s.collectAssign(a)
		}
		s.collectCommand(newCommand(node))
	case *syntax.DeclClause:
		s.collectDeclaration(s.declaration(node))
	case *syntax.WordIter:
		s.collectLoop(node)
	case *syntax.BinaryArithm: // x += 1 and x++ keep a number one
		if x, ok := node.X.(*syntax.Word); ok && node.Op == syntax.Assgn {
			s.assign(node, assigned(x), number, nil)
		}
	case *syntax.ParamExp:
		if e := node.Exp; e != nil && (e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull) {
			s.assign(node, node.Param.Value, word, &syntax.Word{Parts: []syntax.WordPart{node}})
		}
	case *syntax.Redirect:
		if node.N != nil && node.N.Value[0] == '{' { // exec {name}>file
			s.assign(node, node.N.Value[1:len(node.N.Value)-1], text, nil)
		}
	case *syntax.CoprocClause:
		if node.Name != nil {
			s.assign(node, unquoted(node.Name.Parts), text, nil)
		}
	}
}

func (s spot) collectAssign(a *syntax.Assign) {
	switch {
	case a.Array != nil && len(a.Array.Elems) == 0:
		s.assign(a, a.Name.Value, number, nil)
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			s.assign(e, a.Name.Value, words, e.Value)
		}
	case a.Append: // digits behind digits, but also text behind text
		s.assign(a, a.Name.Value, text, nil)
	default:
		s.assign(a, a.Name.Value, word, a.Value)
	}
}

func (s spot) collectDeclaration(d declaration) {
	for _, a := range d.Args {
		switch {
		case a.Name == nil: // an option, or a finding
		case !a.Naked:
			s.collectAssign(a)
		case d.isLocal() && !d.has("Ip"):
			s.assign(a, a.Name.Value, number, nil)
		}
	}
}

func (s spot) collectCommand(c command) {
	if !c.sets {
		return
	}
	k := text
	if c.name == "number" && s.hasNumber {
		k = number
	}
	for _, t := range c.targets {
		s.assign(t.word, t.name, k, nil)
	}
}

func (s spot) collectLoop(loop *syntax.WordIter) {
	if !loop.InPos.IsValid() {
		s.assign(loop, loop.Name.Value, text, nil) // over "$@"
	}
	for _, item := range loop.Items {
		s.assign(loop, loop.Name.Value, words, item)
	}
}

// assigned returns the name of the variable on the left side in a calculation.
func assigned(left *syntax.Word) string {
	if e, ok := left.Parts[0].(*syntax.ParamExp); ok { // an element
		return e.Param.Value
	}
	return left.Lit()
}

// solve finds the variables that hold nothing but numbers. Some of them may get
// their values from each other, but one of these must get a number from elsewhere:
// x=${x:-5} alone leaves what the environment has in x.
func (p *program) solve() {
	keys := slices.Sorted(maps.Keys(p.assignments))
	p.numbers, p.blame = map[string]bool{}, map[string]assignment{}
	for changed := true; changed; {
		changed = false
		for _, key := range keys {
			if !p.numbers[key] && slices.ContainsFunc(p.assignments[key], assignment.givesNumber) {
				p.numbers[key], changed = true, true
			}
		}
	}
	for _, key := range keys {
		if !p.numbers[key] {
			p.blame[key] = p.assignments[key][0]
		}
	}
	for changed := true; changed; {
		changed = false
		for _, key := range keys {
			if !p.numbers[key] {
				continue
			}
			if i := slices.IndexFunc(p.assignments[key], assignment.isText); i >= 0 {
				p.numbers[key], changed = false, true
				p.blame[key] = p.assignments[key][i]
			}
		}
	}
}

// copied returns the name of the variable that a copies from, if that is all.
func (a assignment) copied() string {
	if a.word == nil || len(a.word.Parts) != 1 {
		return ""
	}
	part := a.word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	if e, ok := part.(*syntax.ParamExp); ok && !e.Excl && e.Slice == nil && e.Repl == nil && e.Exp == nil {
		return e.Param.Value
	}
	return ""
}
