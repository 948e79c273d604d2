// Shellnumbers reports the places where a shell script may calculate with text.
//
//	shellnumbers FILE...
//
// Bash evaluates text wherever it calculates: ((x)), $((x)), [[ $x -ge 1 ]], a[$x],
// ${a:$x}, and in names of variables that it is given. Text such as a[$(command)] runs
// the command. The rule: a script calculates only with what is certainly a number. A
// variable is one when every assignment to its name is a number: a literal, a length,
// the result of a calculation, another such variable, or
//
//	number NAME TEXT
//
// a function of the scripts that sets NAME to TEXT if TEXT is a whole number, and fails
// otherwise.
//
// Files that are given together share their variables. The order of commands does not
// count, nor which function calls which: an assignment anywhere counts everywhere, and
// only a name that a single function uses is that function's own.
//
// It does not see these:
//
//   - a variable of the environment that is used before its first assignment, if all
//     assignments are numbers;
//   - an array that one program of the set declares -A and another does not;
//   - what number itself does;
//   - text that is run as code: by source, trap or bash -c.
package main
