package main

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	decimal    = regexp.MustCompile(`^(-?(0|[1-9][0-9]*))?$`)
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

	identifiers = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// source returns a word, or a part of one, as it stands in the script.
func source(node syntax.Node) string {
	if e, ok := node.(*syntax.ParamExp); ok && !e.Dollar.IsValid() { // a[i] in a calculation
		whole := *e
		whole.Short = false
		node = &whole
	}
	var text strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&text, node); err != nil {
		return "a part of this"
	}
	return text.String()
}

// subscriptSource returns what stands between the brackets of an element.
func subscriptSource(index syntax.ArithmExpr) string {
	if word, ok := index.(*syntax.Word); ok {
		return source(word)
	}
	text := source(&syntax.ArithmExp{X: index})
	return strings.TrimSuffix(strings.TrimPrefix(text, "$(("), "))")
}

// static returns the text of a word in which nothing is expanded.
func static(word *syntax.Word) (text string, ok bool) {
	text = unquoted(word.Parts)
	return text, !strings.ContainsAny(text, "$`")
}

// unquoted returns the text of parts without their quotes. Expansions stand in it as in
// the script.
func unquoted(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(part.Value)
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			text.WriteString(unquoted(part.Parts))
		default:
			text.WriteString(source(part))
		}
	}
	return text.String()
}

// every says whether index stands for all elements: one word each for "@", together for "*".
func every(index syntax.ArithmExpr, sign string) bool {
	word, ok := index.(*syntax.Word)
	return ok && word.Lit() == sign
}
