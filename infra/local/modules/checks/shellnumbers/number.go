package main

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// special says whether bash itself sets name, to numbers only.
func special(name string) bool {
	switch name {
	case "#", "?", "!", "$", "PIPESTATUS", "BASHPID", "PPID", "UID", "EUID",
		"SECONDS", "RANDOM", "SRANDOM", "LINENO", "BASH_SUBSHELL", "EPOCHSECONDS":
		return true
	}
	return false
}

// isNumber says whether name holds nothing but numbers, as far as is known yet.
func (s spot) isNumber(name string) bool { return special(name) || s.numbers[s.key(name)] }

func (a assignment) isText() bool { return !a.givesNumber() }

// givesNumber says whether what is assigned is a number, or empty.
func (a assignment) givesNumber() bool {
	switch a.kind {
	case number:
		return true
	case word:
		return a.isNumberWord(a.word.Parts, false)
	case words:
		return a.isNumberWord(braces(a.word), true)
	}
	return false
}

// braces returns the parts of w, of which {1..3} is one.
func braces(w *syntax.Word) []syntax.WordPart {
	split := *w
	if !syntax.SplitBraces(&split) {
		return w.Parts
	}
	// It leaves a literal, empty or not, behind the last brace.
	return slices.DeleteFunc(split.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && lit.Value == ""
	})
}

// isNumberWord says whether parts together are one number, or if list several.
func (s spot) isNumberWord(parts []syntax.WordPart, list bool) bool {
	if len(parts) != 1 {
		return len(parts) == 0
	}
	switch part := parts[0].(type) {
	case *syntax.Lit:
		return decimal.MatchString(part.Value)
	case *syntax.SglQuoted:
		return decimal.MatchString(part.Value)
	case *syntax.DblQuoted:
		return s.isNumberWord(part.Parts, list)
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		return s.isNumberExpansion(part, list)
	case *syntax.BraceExp:
		for _, e := range part.Elems {
			if !s.isNumberWord(e.Parts, false) {
				return false
			}
		}
		return true
	}
	return false
}

func (s spot) isNumberExpansion(e *syntax.ParamExp, list bool) bool {
	name := e.Param.Value
	all := every(e.Index, "@")
	switch {
	case e.Length:
		return true
	case e.Excl:
		return list && all && e.Exp == nil && !s.mayBeAssociative(name)
	case all && !list || every(e.Index, "*") || e.Repl != nil:
		return false
	case e.Slice != nil:
		return all && s.isNumber(name)
	case e.Exp == nil:
		return s.isNumber(name)
	}
	switch e.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return s.isNumber(name) && s.isNumberDefault(e.Exp.Word, list)
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return s.isNumberDefault(e.Exp.Word, list)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return s.isNumber(name)
	}
	return false
}

func (s spot) isNumberDefault(w *syntax.Word, list bool) bool {
	return w == nil || s.isNumberWord(w.Parts, list)
}
