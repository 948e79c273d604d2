package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// check reports what is wrong with a node by itself.
func (p *program) check(s spot, node syntax.Node) {
	switch node := node.(type) {
	case *syntax.ArithmExp:
		s.calculate(node.X)
	case *syntax.ArithmCmd:
		s.calculate(node.X)
	case *syntax.CStyleLoop:
		s.calculate(node.Init)
		s.calculate(node.Cond)
		s.calculate(node.Post)
	case *syntax.LetClause:
		s.report(node, "let expands its words before it calculates with them; use ((...))")
	case *syntax.ParamExp:
		s.checkExpansion(node)
	case *syntax.CallExpr:
		for _, a := range node.Assigns {
			s.checkAssign(a)
		}
		s.checkCommand(newCommand(node))
	case *syntax.DeclClause:
		s.checkDeclaration(s.declaration(node))
	case *syntax.BinaryTest:
		if numeric.MatchString(node.Op.String()) {
			s.calculateText(node.X)
			s.calculateText(node.Y)
		}
	case *syntax.UnaryTest:
		if node.Op == syntax.TsVarSet {
			s.reportTestOfName(node)
		}
	}
}

func (s spot) checkExpansion(e *syntax.ParamExp) {
	if e.Excl && e.Names == 0 && !every(e.Index, "@") && !every(e.Index, "*") {
		s.report(e, "%s takes the name of a variable from text, which may have commands in its subscript; use an associative array", source(e))
	}
	if e.Exp != nil && e.Exp.Op == syntax.OtherParamOps && e.Exp.Word.Lit() == "P" {
		s.report(e, "%s runs the commands in the text", source(e))
	}
	s.checkSubscript(e.Param.Value, e.Index)
	if e.Slice != nil {
		s.calculate(e.Slice.Offset)
		s.calculate(e.Slice.Length)
	}
}

// checkSubscript looks at a subscript that is expanded once.
func (s spot) checkSubscript(name string, index syntax.ArithmExpr) {
	if index == nil || every(index, "@") || every(index, "*") || s.isAssociative(name) {
		return
	}
	s.calculate(index)
}

func (s spot) checkAssign(a *syntax.Assign) {
	s.checkSubscript(a.Name.Value, a.Index)
	if a.Array == nil {
		return
	}
	for _, e := range a.Array.Elems {
		s.checkSubscript(a.Name.Value, e.Index)
	}
}

var numeric = regexp.MustCompile(`^-(eq|ne|lt|le|gt|ge)$`)

func (s spot) checkCommand(c command) {
	switch c.name {
	case "":
		return
	case "eval":
		s.report(c.words[0], "eval runs the commands in its text; write them out")
	case "let":
		s.report(c.words[0], "let expands its words before it calculates with them; use ((...))")
	case "declare", "typeset", "local", "readonly", "export": // behind builtin or command
		s.report(c.words[0], "%s is not looked at behind another word; write it first", c.name)
	case "test", "[":
		s.checkTest(c)
	}
	if s.within("number") && c.name == "printf" {
		return // this is the one place
	}
	if c.name == "printf" && len(c.targets) > 0 {
		s.report(c.words[0], `printf -v takes the name of a variable from text; assign with =, and a number with: number NAME "$text"`)
		return
	}
	for _, t := range c.targets {
		s.checkTarget(c, t)
	}
}

func (s spot) checkTest(c command) {
	before := ""
	for _, w := range c.words[1:] {
		word, _ := static(w)
		switch {
		case numeric.MatchString(word):
			s.report(w, "%s compares what may be any text; use ((...)) with a variable that was checked: number NAME \"$text\"", c.name)
		case word == "-v" && !strings.Contains(before, "="):
			s.reportTestOfName(w)
		}
		before = word
	}
}

func (s spot) reportTestOfName(node syntax.Node) {
	s.report(node, "-v runs the commands in the subscript of what it tests; use [[ -n ${name:-} ]]")
}

// checkTarget looks at the name of a variable that a builtin expands once more.
func (s spot) checkTarget(c command, t target) {
	switch {
	case t.name == "":
		s.report(t.word, "%s takes the name of a variable from text, which may have commands in its subscript; write the name", c.name)
	case t.isElement && s.isAssociative(t.name):
		s.checkExpandedTwice(t.word, t.name, t.subscript)
	case t.isElement && t.subscript != "@" && t.subscript != "*":
		s.calculateParsed(t.word, t.subscript)
	}
}

func (s spot) checkDeclaration(d declaration) {
	name := d.Variant.Value
	if d.has("i") {
		s.report(d, "%s -i calculates with whatever is assigned later; leave it out, and assign $((...))", name)
	}
	if d.has("n") {
		s.report(d, "%s -n takes the name of a variable from text, which may have commands in its subscript; use an associative array", name)
	}
	for _, a := range d.Args {
		if _, ok := option(a); ok {
			continue
		}
		if a.Name == nil {
			s.report(a, "%s takes the name of a variable from text, which may have commands in its subscript; write the name without quotes", name)
			continue
		}
		s.checkDeclared(d, a)
	}
}

func (s spot) checkDeclared(d declaration, a *syntax.Assign) {
	name := a.Name.Value
	if a.Index != nil && (d.has("A") || s.isAssociative(name)) {
		s.checkExpandedTwice(a, name, subscriptSource(a.Index))
	} else {
		s.checkAssign(a)
	}
	if d.isLocal() && !d.has("A") && !s.isAssociative(name) && s.mayBeAssociative(name) {
		s.report(a, "%s is an associative array elsewhere, but what this function calls may see this one, where subscripts are calculations; use another name", name)
	}
	if a.Value != nil && a.Index == nil && s.declaresArray(d, name) && !s.isNumberWord(a.Value.Parts, false) {
		s.report(a, "%s runs the commands in text that looks like the elements of an array, such as ([$(command)]=1); assign %s=(...)", d.Variant.Value, name)
	}
}

// declaresArray says whether the variable name of d is an array, or may be one already.
// The builtins export and readonly look for one only by their options.
func (s spot) declaresArray(d declaration, name string) bool {
	if d.has("aA") || d.scope.arrays[name] && d.Variant.Value != "export" && d.Variant.Value != "readonly" {
		return true
	}
	if d.isLocal() || d.Variant.Value == "export" || d.Variant.Value == "readonly" {
		return false
	}
	return slices.ContainsFunc(s.allScopes(), func(s *scope) bool { return s.arrays[name] })
}

// checkSpecial reports text for the numbers of bash itself, which calculate with what they
// get.
func (p *program) checkSpecial() {
	for _, key := range slices.Sorted(maps.Keys(p.assignments)) {
		for _, a := range p.assignments[key] {
			integer := special(a.name) || a.name == "OPTIND" || a.name == "HISTCMD"
			if integer && a.isText() {
				a.report(a.node, "bash calculates with the text that %s gets, and runs commands in it; assign to a name of your own", a.name)
			}
		}
	}
}
