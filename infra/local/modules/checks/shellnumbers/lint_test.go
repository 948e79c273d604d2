package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checked is the function number, on one line.
const checked = `number() { [[ $2 =~ ^[0-9]+$ ]] && printf -v "$1" %s "$2"; }` + "\n"

// findingsIn lints scripts as files of one set, called a, b and so on.
func findingsIn(t *testing.T, scripts ...string) []string {
	t.Helper()
	var set []*script
	for i, text := range scripts {
		s, err := parse(string(rune('a'+i)), text)
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, s)
	}
	var found []string
	for _, f := range lint(set) {
		found = append(found, f.String())
	}
	return found
}

func TestNumbersPass(t *testing.T) {
	for name, script := range map[string]string{
		"literals":                   `x=5 y=-1 z=0 e= q='7' r="8"; ((x + y + z + e + q + r))`,
		"calculations":               `x=$((1 + 2)); ((y = x * 2)); ((z = 0, z++, z += y)); ((x < z))`,
		"lengths":                    `read -r text; x=${#text}; ((x > 1 && ${#text} > 1))`,
		"parameters of the shell":    `run & x=$! y=$? z=$#; ((x + y + z + $$ + SECONDS + RANDOM + $#))`,
		"copies":                     `x=5 y=$x z=${y} w="$z"; ((w))`,
		"defaults":                   `f() { local first=""; for n in 1 2; do first=${first:-$n}; done; ((first)); }`,
		"alternatives":               `read -r text; x=${text:+1}; ((x))`,
		"values that must be there":  `x=5 y=${x:?}; ((y))`,
		"an assigned default":        `f() { local x; : "${x:=5}"; ((x)); }`,
		"elements":                   `a=(1 2) b[3]=4 c=("${a[@]}"); x=${a[0]}; ((x + b[3] + ${c[x]}))`,
		"an array that may be empty": `a=(1 2); for x in ${a[@]+"${a[@]}"}; do ((x)); done`,
		"a part of an array":         `a=(1 2 3); b=("${a[@]:1}"); ((b[0]))`,
		"indices":                    `read -ra a; for n in "${!a[@]}"; do echo "${a[n]}" "${a[$n]}" "${a[n + 1]}"; done`,
		"loops over numbers":         `a=(1); for x in {1..60} 7 "${a[@]}" {3,4}; do ((x)); done`,
		"a loop that counts":         `for ((i = 0; i < 9; i++)); do :; done`,
		"a declaration of its own":   `f() { local x; ((x > 0)) || x=1; }`,
		"parts of text":              `read -r text; x=3; echo "${text:0:3}${text:x}${text: -1:$x}${text:${#text}-1}" "${@:2}"`,
		"checked text":               checked + `number x "$1"; ((x))`,
		"a checked element":          checked + `n=1; number "a[n]" "$1"; ((a[n]))`,
		"keys":                       `declare -A m=(["a b"]=1); read -r k; m[$k]=2; m["$k $k"]+=1; echo "${m[$k]}" "${m[${k%%:*}]}"`,
		"numbers under keys":         `declare -A m=(); read -r k; m[$k]=5; ((${m[$k]} > 4))`,
		"keys in a function":         `f() { local -A m=(); local k=$1; m[$k]=2; }`,
		"keys that are numbers":      `declare -A m=(); n=1; ((m[$n]++)); unset "m[$n]" "m[fixed key]"`,
		"an element that goes":       `a=(x) n=0; unset "a[n]" "a[0]" a`,
		"comparisons":                `x=5 a=(1); [[ $x -ge 1 && x -lt 9 && ${a[x]} -ne -1 && $((x + 1)) -eq 10 ]]`,
		"text that is only text":     `read -r x; [[ $x == 5 && $x =~ 5 && -n ${x:-} ]] && case $x in 5) echo "$x" ;; esac`,
		"other tests":                `[ -n "$1" ] && test "$1" = x && [ "$1" = -v ]`,
		"names with a prefix":        `echo "${!BASH@}" "${!BASH*}"`,
		"a base":                     `x=5; ((10#$x))`,
		"numbers in quotes":          `x=5; ((x + '1' + "2" + "x"))`,
		"keys like calculations":     "declare -A m=(); ((m[a-b]++))",
		"other commands":             `"$1" -v x; command; command -v x; declare +x y; [[ -e $1 ]]`,
		"two numbers side by side":   `x=5 y=6; ((1$x$y))`,
		"a printed number":           `printf '%d\n' "$1"; printf -- "$1"`,
		"empty arrays":               `a=(); declare -a b; local_n=0; ((${#a[@]} + local_n))`,
		"text declared as one value": `f() { local x=$1; declare y="$1"; readonly z=$1; }; x=(1) y=(1); export y="$1" 2>/dev/null`,
		"an array declared as such":  `declare -a a=("$1"); f() { local -A m=(["$1"]="$2"); }`,
		"locals by other words":      `f() { declare x=0; typeset y=0; ((x + y)); }; g() { local x=$1 y=$1; echo "$x$y"; }`,
		"a text of one function":     `f() { local x=$1; echo "$x"; }; g() { local x=0; ((x)); }`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range findingsIn(t, script) {
				t.Error(f)
			}
		})
	}
}

func TestTextIsFound(t *testing.T) {
	const any = "may hold any text"
	for _, c := range []struct {
		name, script string
		want         string // "line: fragment", of the only finding
	}{
		// As they stood in our scripts.
		{"a test after read", "declare -A info=()\nread -r v\ninfo[x]=$v\n[[ ${info[uptime_in_seconds]} -ge 60 ]]", `4: ${info[uptime_in_seconds]} may hold any text (set at a:2)`},
		{"a sum of parts", "range=1-2 sum=0\nsum=$((sum + ${range#*-}))", `2: ${range#*-} may hold any text (set at a:1)`},
		{"a subscript after read", "count=()\nread -r s\ncount[s]=1", `3: "s" may hold any text (set at a:2)`},

		// What makes text.
		{"read", "read -r x; ((x))", `1: "x" ` + any},
		{"read of several", "read -r -d '' -u 3 x y; ((y))", any},
		{"read without a name", "REPLY=5; read -r; ((REPLY))", any},
		{"read into an array", "read -ra x; ((x[0]))", `1: ${x[0]} ` + any},
		{"read by a joined option", "read -rax; ((x[0]))", any},
		{"mapfile", "mapfile -t -n 3 x; ((x[0]))", any},
		{"mapfile without a name", "MAPFILE=(); mapfile; ((MAPFILE[0]))", any},
		{"readarray", "x=(1); readarray x; ((${x[0]}))", any},
		{"getopts", "getopts ab x; ((x))", any},
		{"the argument of getopts", "OPTARG=0; getopts a: _; ((OPTARG))", any},
		{"wait -p", "wait -n -p x; ((x))", any},
		{"a descriptor", "x=5; exec {x}>/dev/null; ((x))", any},
		{"a coprocess", "X=(1); coproc X { :; }; ((X[0]))", any},
		{"a substitution", "x=$(date); ((x))", any},
		{"a parameter", "x=$1; ((x))", any},
		{"all parameters", `for x in "$@"; do ((x)); done`, any},
		{"all parameters, unsaid", "for x; do ((x)); done", any},
		{"a choice", "select x in $y; do ((x)); done", any},
		{"a part of text", "y=1; x=${y:0:1}; ((x))", any},
		{"a shortened text", "y=1; x=${y%1}; ((x))", any},
		{"a replaced text", "y=1; x=${y//1/2}; ((x))", any},
		{"a match", "x=${BASH_REMATCH[1]}; ((x))", any},
		{"pieces", "y=1 x=5$y; ((x))", any},
		{"an appended text", "x=5; x+=1; ((x))", any},
		{"a leading zero", "x=08; ((x))", any},
		{"a word", "x=yes; ((x))", any},
		{"an element of text", "x=(1 a 2); ((x[0]))", any},
		{"all elements at once", "y=(1 2); x=${y[@]}; ((x))", any},
		{"all elements as one", `y=(1 2); for x in "${y[*]}"; do ((x)); done`, any},
		{"keys of a map", `declare -A m=(); for x in "${!m[@]}"; do ((x)); done`, any},
		{"keys of a map of the caller", "f() { local -A m=(); g; }\ng() { for x in \"${!m[@]}\"; do ((x)); done; }", `2: "x" ` + any},
		{"letters", "for x in {a..c}; do ((x)); done", any},
		{"leading zeros", "for x in {08..10}; do ((x)); done", any},
		{"a default that is text", "f() { local x; y=${x:-$1}; ((y)); }", any},
		{"an alternative that is text", "y=${x:+$1}; ((y))", any},
		{"a copy of text", "read -r z\ny=$z x=\"$y\"\n((x))", `3: "x" may hold any text (set at a:1)`},
		{"the environment", "((DEADLINE))", `1: "DEADLINE" may hold any text (nothing here sets it)`},
		{"the environment, in a sum", "((x + 1))", any},
		{"the environment, with a default", "x=${x:-5}; ((x))", any},
		{"the environment, as a default", ": ${x:=5}; ((x))", any},
		{"an assigned default that is text", "x=5; : ${x:=$1}; ((x))", any},
		{"an assigned default for nothing only", "x=5; : ${x=$1}; ((x))", any},
		{"an option's value", "x=5; read -d, x; ((x))", any},
		{"a value like an option", "declare x=-i; ((x))", any},
		{"the environment, counted on", "x=$x; echo $((x++))", any},
		{"the environment, declared", "readonly x; ((x))", any},
		{"the environment, in a circle", "x=${y:-5} y=$x; ((y))", any},
		{"number, which nobody wrote", `number x "$1"; ((x))`, any},
		{"a local that others see", "f() { local x=0; g; ((x)); }\ng() { read -r x; }", `1: "x" may hold any text (set at a:2)`},
		{"a local that others see as an array", "f() { local x=5; g; ((x)); }\ng() { read -r \"x[0]\"; }", `1: "x" ` + any},
		{"a local with the value of a caller", "f() { local -I x; ((x)) || x=1; }\ng() { local x=$1; f; }", `1: "x" ` + any},
		{"a local set before", "x=$1\nf() { local x=${x:-0}; ((x)); }", `2: "x" may hold any text (set at a:1)`},

		// Where bash calculates.
		{"an expansion", "read -r x; echo $((1 + (x)))", any},
		{"the old expansion", "read -r x; echo $[x]", any},
		{"with a dollar", "read -r x; (($x))", any},
		{"with quotes", `read -r x; (("$x"))`, any},
		{"in braces", "read -r x; ((!${x}))", any},
		{"with a default", "read -r x; ((${x:-0}))", any},
		{"as an operand", "read -r x; ((1 ? x : 2))", any},
		{"as a base", "read -r x; ((10#$x))", any},
		{"a for loop", "read -r x; for ((i = 0; i < x; i++)); do :; done", any},
		{"a for loop's beginning", "read -r x; for ((i = x; i < 1; )); do :; done", any},
		{"a for loop's step", "read -r x; for ((i = 0; i < 1; i += x)); do :; done", any},
		{"in a here-document", "read -r x; cat <<END\n$((x))\nEND", "2: "},
		{"a parameter itself", "(($1))", `1: $1 may hold any text, and bash runs commands in text that it calculates with; check it first: number NAME "$1"`},
		{"a substitution itself", "(($(date)))", "$(date) may print any text"},
		{"a name in single quotes", "x=1; (('x'))", "neither a number nor a name"},
		{"a name in pieces", "x=1; ((a$x))", `"a" is neither a number nor a name`},
		{"a subscript", "read -r x; echo ${a[x]}", any},
		{"a subscript with a dollar", "read -r x; echo ${a[$x]}", any},
		{"a subscript of a length", "read -r x; echo ${#a[x]}", any},
		{"a subscript of an assignment", "read -r x; a[$x]=1", any},
		{"a subscript in a list", "read -r x; a=([x]=1)", any},
		{"a subscript of a declaration", "read -r x; declare a[x]=1", any},
		{"a subscript below a key", "declare -A m=(); read -r x; m[${a[x]}]=1", any},
		{"a subscript of unset", `read -r x; unset "a[$x]"`, any},
		{"a subscript in single quotes", `read -r x; unset 'a[x]'`, any},
		{"a subscript in a subscript", `b=(1); read -r x; unset 'a[${b[x]}]'`, any},
		{"a subscript that is none", `unset "a[1 2]"`, "the subscript 1 2 cannot be read"},
		{"a subscript of two", "unset 'a[1)) $((2]'", "cannot be read"},
		{"a key that is none", `declare -A m=(); unset 'm[${]'`, "the subscript ${ cannot be read"},
		{"a subscript of read", `y=1; read -r x; read -r "a[x]"`, any},
		{"a subscript of number", checked + `read -r x; number "a[x]" 5`, "2: "},
		{"an offset", "read -r x; echo ${y:x}", any},
		{"a length", "read -r x; echo ${y:0:$x}", any},
		{"an offset of parameters", "read -r x; echo ${@:x}", any},
		{"-eq", "read -r x; [[ x -eq 1 ]]", any},
		{"-ne", "read -r x; [[ 1 -ne $x ]]", any},
		{"-lt", `read -r x; [[ "$x" -lt 1 ]]`, any},
		{"-le", "read -r x; [[ -n $x && $x -le 1 ]]", any},
		{"-gt", "read -r x; [[ ! ($x -gt 1) ]]", any},
		{"-ge", "read -r x; [[ $x -ge 1 ]]", any},
		{"a sum in a test", "x=1; [[ x+1 -eq 2 ]]", "neither a number nor a name"},

		// Subscripts that are text.
		{"a key in a calculation", "declare -A m=(); read -r k; ((m[$k]++))", "bash expands the subscript of m once more here, and runs the commands in $k"},
		{"a hidden key in a calculation", "declare -A m=(); read -r k; ((m['$k']++))", "once more"},
		{"a key of unset", `declare -A m=(); read -r k; unset "m[$k]"`, "once more"},
		{"a key of read", `declare -A m=(); read -r k; read -r "m[a $k]"`, "once more"},
		{"a key of a declaration", "declare -A m=(); read -r k; declare m[$k]=1", "once more"},
		{"a command in a key", `declare -A m=(); unset "m[$(date)]"`, "once more"},
		{"a map of another function", "f() { local -A m=(); }\ng() { read -r k; echo ${m[$k]}; }", "2: " + `"k" ` + any},
		{"a map that is hidden", "declare -A m=()\nf() { local m; g; }", "2: m is an associative array elsewhere"},

		// Tests that are commands.
		{"[", `[ "$x" -eq 1 ]`, "[ compares what may be any text"},
		{"test", `test 1 -ge "$x"`, "test compares what may be any text"},
		{"a number in [", "x=5; [ $x -lt 1 ]", "[ compares"},
		{"[ behind a word", `command [ "$x" -ne 1 ]`, "[ compares"},

		// Names from text.
		{"-v", "[[ -v x ]]", "-v runs the commands"},
		{"-v of test", "test -v x", "-v runs the commands"},
		{"-v of [", "[ ! -v x ]", "-v runs the commands"},
		{"let", "x=1; let x+=1", "let expands"},
		{"let behind a word", "builtin let x+=1", "let expands"},
		{"eval", `eval "$x"`, "eval runs the commands"},
		{"eval behind words", `builtin command -p \eval "$x"`, "eval runs the commands"},
		{"declare -i", "declare -ri x=5", "declare -i calculates"},
		{"local -i", "f() { local -i x; }", "local -i calculates"},
		{"typeset -i", "typeset -i x", "typeset -i calculates"},
		{"declare -n", "declare -n x=y", "declare -n takes the name"},
		{"local -n", `f() { local -n x=$1; }`, "local -n takes the name"},
		{"an indirection", "echo ${!x}", "${!x} takes the name"},
		{"an indirection of an element", "echo ${!x[0]}", "takes the name"},
		{"a prompt", "echo ${x@P}", "${x@P} runs the commands"},
		{"printf -v", "printf -v x %s 5", "printf -v takes the name"},
		{"printf -v, joined", "printf -vx %s 5", "printf -v takes the name"},
		{"read into any name", `read -r "$x"`, "read takes the name"},
		{"read into any array", `read -r -a "$x"`, "read takes the name"},
		{"mapfile into any name", `mapfile "$x"`, "mapfile takes the name"},
		{"unset of any name", `unset "$x"`, "unset takes the name"},
		{"wait for any name", `wait -n -p "$x"`, "wait takes the name"},
		{"number of any name", checked + `number "$x" 5`, "2: number takes the name"},
		{"declare of any name", `declare "$x=5"`, "declare takes the name"},
		{"declare of a quoted name", `declare "x=5"`, "declare takes the name"},
		{"declare behind a word", `builtin declare -i x`, "declare is not looked at behind another word"},
		{"text declared as an array", "declare -a x=$1", "declare runs the commands in text that looks like the elements"},
		{"text declared as a map", `readonly -A x="$1"`, "readonly runs the commands"},
		{"text declared over an array", "x=(); declare x=$1", "declare runs the commands"},
		{"text declared over an array that was read", "read -ra x; declare x=$1", "declare runs the commands"},
		{"text declared over an element that was read", `read -r "x[0]"; declare x=$1`, "declare runs the commands"},
		{"text declared over an array of others", "f() { x=(); }; declare x=$1", "declare runs the commands"},
		{"text declared over a local array", "f() { local x=(); local x=$1; }", "local runs the commands"},
		{"text for SECONDS", "SECONDS=$1", "SECONDS gets"},
		{"text for a local SECONDS", "f() { local SECONDS=$1; }", "SECONDS gets"},
		{"text for RANDOM", "read -r RANDOM", "RANDOM gets"},
		{"text for OPTIND", "OPTIND=$1", "OPTIND gets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := findingsIn(t, c.script)
			line, fragment, numbered := strings.Cut(c.want, ": ")
			if !numbered || strings.Trim(line, "0123456789") != "" {
				line, fragment = "", c.want
			}
			if len(found) != 1 || !strings.HasPrefix(found[0], "a:"+line) || !strings.Contains(found[0], fragment) {
				t.Errorf("in\n%s\nfound %q, want one finding %q", c.script, found, c.want)
			}
		})
	}
}

func TestFilesShareVariables(t *testing.T) {
	user, setter := "echo $((x))\n", "x=5\n"
	if found := findingsIn(t, user, setter); len(found) != 0 {
		t.Errorf("a number of another file is a finding: %q", found)
	}
	found := findingsIn(t, user, setter, "\nread -r x\n")
	if len(found) != 1 || !strings.Contains(found[0], "set at c:2") {
		t.Errorf("text of another file is no finding: %q", found)
	}
}

func TestPrintfInNumberOnly(t *testing.T) {
	found := findingsIn(t, checked+`digits() { printf -v "$1" %s 5; }`)
	if len(found) != 1 || !strings.HasPrefix(found[0], "a:2: printf -v") {
		t.Errorf("found %q", found)
	}
}

func TestFindingsAreInOrder(t *testing.T) {
	found := findingsIn(t, "f() {\n((x))\n}\necho ${y:x} $((x))\n", "((z))", "((x))")
	var at []string
	for _, f := range found {
		place, _, _ := strings.Cut(f, " ")
		at = append(at, place)
	}
	if want := []string{"a:2:", "a:4:", "b:1:", "c:1:"}; !slices.Equal(at, want) {
		t.Errorf("found %q, want findings at %q", found, want)
	}
}

func TestRunReadsFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "slots.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("read -r slot\necho $((slot))\n")
	found, err := run([]string{file})
	want := fmt.Sprintf(`%s:2: "slot" may hold any text (set at %[1]s:1), and bash runs commands in text that it calculates with; check it first: number slot "$text"`, file)
	if err != nil || len(found) != 1 || found[0].String() != want {
		t.Errorf("found %q, %v, want %q", found, err, want)
	}
	write("if\n")
	if _, err := run([]string{file}); err == nil || !strings.Contains(err.Error(), "slots.sh:") {
		t.Errorf("a script that is not bash gives the error %v", err)
	}
	if _, err := run([]string{filepath.Join(dir, "none.sh")}); err == nil {
		t.Error("a file that is not there is no error")
	}
}
