package pulumi

import (
	"regexp"
	"slices"
	"strings"
)

// diagnostics returns the part of pulumi's words that says why it failed: what it
// says of each resource, or the errors when it did not come as far as resources.
func diagnostics(words string) string {
	// These only say that something failed somewhere.
	noise := regexp.MustCompile(`(?m)^ *error: (update|preview) failed\n|^( *error: an unhandled error occurred: program failed:\n)? *waiting for RPCs: .*\n`)
	var kept []string
	for paragraph := range strings.SplitSeq(noise.ReplaceAllString(section(words, "Diagnostics:"), ""), "\n\n") {
		if paragraph = strings.TrimRight(paragraph, "\n"); strings.Contains(paragraph, "\n") { // more than a resource's name
			kept = append(kept, paragraph)
		}
	}
	if len(kept) == 0 {
		kept = slices.DeleteFunc(strings.Split(words, "\n"), func(line string) bool {
			return !strings.HasPrefix(line, "error: ") || strings.Contains(line, "currently locked") // for that we have better advice
		})
	}
	return strings.Join(kept, "\n")
}

// changes returns how many objects changed, by what happened to them.
func changes(words string) string {
	counts := strings.FieldsFunc(section(words, "Resources:"), func(r rune) bool { return r == '\n' })
	for i := range counts {
		counts[i] = strings.TrimSpace(counts[i])
	}
	if len(counts) == 1 && strings.HasSuffix(counts[0], "unchanged") {
		return "nothing changed (" + counts[0] + ")"
	}
	return strings.Join(counts, ", ")
}

// section returns the indented lines below the last line that is the title.
func section(words, title string) string {
	start := strings.LastIndex(words, title+"\n")
	if start < 0 {
		return ""
	}
	var lines []string
	for line := range strings.Lines(words[start+len(title)+1:]) {
		if line != "\n" && !strings.HasPrefix(line, " ") {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}
