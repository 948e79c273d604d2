package main

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var targetPattern = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_]*)(\[(.*)\])?$`)

// target is a variable that a command gets by its name.
type target struct {
	word      *syntax.Word
	name      string // empty if it is in an expansion
	subscript string
	isElement bool
}

func newTarget(word *syntax.Word, text string) target {
	t := target{word: word}
	if m := targetPattern.FindStringSubmatch(text); m != nil {
		t.name, t.isElement, t.subscript = m[1], m[2] != "", m[3]
	}
	return t
}

// command is a call of a builtin, of number, or of something else.
type command struct {
	name    string // empty if it is in an expansion
	words   []*syntax.Word
	targets []target
	sets    bool // the targets get values
	arrays  bool // the targets are whole arrays
}

func newCommand(call *syntax.CallExpr) command {
	var c command
	c.words = call.Args
	for len(c.words) > 0 {
		name, ok := static(c.words[0])
		if !ok {
			return c
		}
		c.name = strings.ReplaceAll(name, `\`, "")
		switch c.name {
		case "command", "builtin", "-p", "--": // words before the builtin itself
			c.words, c.name = c.words[1:], ""
		default:
			c.findTargets()
			return c
		}
	}
	return c
}

// findTargets knows all commands that get the name of a variable, but declare and the
// like, which are clauses of the grammar.
func (c *command) findTargets() {
	c.sets = true
	switch c.name {
	case "read":
		arrays, names := c.options("adinNptu", 'a')
		c.arrays = len(arrays) > 0
		c.targets = append(arrays, targetsOf(names)...)
		if len(c.targets) == 0 {
			c.targets = []target{newTarget(c.words[0], "REPLY")}
		}
	case "mapfile", "readarray":
		_, names := c.options("CcdnOsu", 0)
		c.arrays = true
		c.targets = targetsOf(names)
		if len(c.targets) == 0 {
			c.targets = []target{newTarget(c.words[0], "MAPFILE")}
		}
	case "printf":
		c.targets, _ = c.options("v", 'v')
	case "wait":
		c.targets, _ = c.options("p", 'p')
	case "getopts":
		c.targets = []target{newTarget(c.words[0], "OPTARG")}
		if len(c.words) > 2 {
			c.targets = append(c.targets, targetsOf(c.words[2:3])...)
		}
	case "number":
		c.targets = targetsOf(c.words[1:min(2, len(c.words))])
	case "unset":
		c.sets = false
		_, names := c.options("", 0)
		c.targets = targetsOf(names)
	}
}

func targetsOf(words []*syntax.Word) (targets []target) {
	for _, w := range words {
		targets = append(targets, newTarget(w, unquoted(w.Parts)))
	}
	return targets
}

// options returns the targets that the option letter names, and the words behind all
// options. The letters in valued take a value, joined to them or as the next word.
func (c *command) options(valued string, letter rune) (targets []target, operands []*syntax.Word) {
	words := c.words[1:]
	for len(words) > 0 {
		word, text := words[0], unquoted(words[0].Parts)
		if text == "-" || !strings.HasPrefix(text, "-") {
			break
		}
		words = words[1:]
		if text == "--" {
			break
		}
		at := strings.IndexAny(text, valued)
		if at < 0 {
			continue
		}
		value := text[at+1:]
		if value == "" && len(words) > 0 {
			word, value, words = words[0], unquoted(words[0].Parts), words[1:]
		}
		if rune(text[at]) == letter {
			targets = append(targets, newTarget(word, value))
		}
	}
	return targets, words
}
