package main

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// why ends messages about text in a calculation.
const why = `and bash runs commands in text that it calculates with; check it first: number %s "%s"`

// literal is a number in a calculation, or the beginning of one, as in 10#$x.
var literal = regexp.MustCompile(`^-?[0-9][0-9A-Za-z@_]*#?$`)

// calculate looks at one calculation. What stands inside of expansions in it is met by
// the walk.
func (s spot) calculate(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		s.calculateWord(x.Parts)
	case *syntax.BinaryArithm:
		s.calculate(x.X)
		s.calculate(x.Y)
	case *syntax.UnaryArithm:
		s.calculate(x.X)
	case *syntax.ParenArithm:
		s.calculate(x.X)
	}
}

// calculateText looks at an operand of [[ a -eq b ]].
func (s spot) calculateText(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		s.calculateWord(w.Parts)
	}
}

// calculateParsed looks at a subscript in the name of a variable.
func (s spot) calculateParsed(node syntax.Node, subscript string) {
	// Not by the parser's Arithmetic, which reads the beginning only.
	w, err := syntax.NewParser().Document(strings.NewReader("$((" + subscript + "))"))
	var x *syntax.ArithmExp
	if err == nil && len(w.Parts) == 1 {
		x, _ = w.Parts[0].(*syntax.ArithmExp)
	}
	if x == nil {
		s.report(node, "the subscript %s cannot be read; write a number or a name", subscript)
		return
	}
	s.line = s.place(node).line
	// Single quotes may hide expansions from the walk.
	syntax.Walk(x, func(node syntax.Node) bool {
		if e, ok := node.(*syntax.ParamExp); ok {
			s.checkExpansion(e)
		}
		return true
	})
	s.calculate(x.X)
}

func (s spot) calculateWord(parts []syntax.WordPart) {
	if lit := onlyLiteral(parts); lit != nil && identifier.MatchString(lit.Value) {
		if !s.isNumber(lit.Value) {
			s.reportName(lit, lit.Value)
		}
		return
	}
	for _, part := range parts {
		s.calculatePart(part)
	}
}

func onlyLiteral(parts []syntax.WordPart) *syntax.Lit {
	if len(parts) != 1 {
		return nil
	}
	lit, _ := parts[0].(*syntax.Lit)
	return lit
}

func (s spot) calculatePart(part syntax.WordPart) {
	switch part := part.(type) {
	case *syntax.Lit:
		s.calculateLiteral(part, part.Value)
	case *syntax.SglQuoted:
		s.calculateLiteral(part, part.Value)
	case *syntax.DblQuoted:
		s.calculateWord(part.Parts)
	case *syntax.ArithmExp: // met by the walk
	case *syntax.ParamExp:
		s.calculateExpansion(part)
	default:
		s.report(part, "%s may print any text, "+why, source(part), "NAME", source(part))
	}
}

func (s spot) calculateLiteral(node syntax.Node, text string) {
	if !literal.MatchString(text) {
		s.report(node, "%q is neither a number nor a name, so it is not looked at; calculate in ((...)) with whole names", text)
	}
}

func (s spot) calculateExpansion(e *syntax.ParamExp) {
	name := e.Param.Value
	if bare := !e.Dollar.IsValid(); bare && s.isAssociative(name) {
		s.checkExpandedTwice(e.Param, name, subscriptSource(e.Index))
	}
	if s.isNumberExpansion(e, false) {
		return
	}
	if source(e) == "$"+name && identifier.MatchString(name) {
		s.reportName(e, name)
		return
	}
	s.report(e, "%s may hold any text%s, "+why, source(e), s.origin(name), "NAME", source(e))
}

func (s spot) reportName(node syntax.Node, name string) {
	s.report(node, "%q may hold any text%s, "+why, name, s.origin(name), name, "$text")
}

// origin says where name gets its text from.
func (s spot) origin(name string) string {
	if s.isNumber(name) || !identifier.MatchString(name) {
		return ""
	}
	a, ok := s.blame[s.key(name)]
	if !ok {
		return " (nothing here sets it)"
	}
	for range len(s.blame) { // back to where the text comes in
		from := a.copied()
		next, ok := a.blame[a.key(from)]
		if from == "" || !ok {
			break
		}
		a = next
	}
	return fmt.Sprintf(" (set at %s)", a.place(a.node))
}

// checkExpandedTwice looks at the subscript of an element of an associative array where
// bash may expand it once more after the shell did.
func (s spot) checkExpandedTwice(node syntax.Node, name, subscript string) {
	w, err := syntax.NewParser().Document(strings.NewReader(subscript))
	if err != nil {
		s.report(node, "the subscript %s cannot be read; write a name in it", subscript)
		return
	}
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, "$`\\") {
			continue
		}
		if !s.isNumberWord([]syntax.WordPart{part}, false) {
			s.report(node, "bash expands the subscript of %s once more here, and runs the commands in %s; use the element by ${%[1]s[...]} or %[1]s[...]= only", name, source(part))
		}
	}
}
