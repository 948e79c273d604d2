package manifestdiff

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of what is shown. A comment on GitHub has at most 65536 characters, and
// the engine's preview stands in the same one. What the words leave is the diff's.
const (
	maxFields = 6
	maxValue  = 60
	maxBytes  = 42_000
)

// Report writes, as Markdown, what becomes of a stack that runs the base's
// rendering when head's is brought up. Against names the base; diff is the unified
// diff of the two texts.
func Report(stack, against string, base, head []byte, diff string) (string, error) {
	all, err := changes(base, head)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if len(all) == 0 && diff == "" {
		fmt.Fprintf(&out, "### Stack `%s`: the manifests are those of %s\n", stack, against)
		return out.String(), nil
	}
	fmt.Fprintf(&out, "### Stack `%s` against %s\n", stack, against)
	last := effect(-1)
	for _, c := range all {
		if c.effect != last {
			fmt.Fprintf(&out, "\n**%s**\n\n", title(c.effect))
			last = c.effect
		}
		out.WriteString("- " + c.what + "\n")
		for i, f := range c.fields {
			if i == maxFields {
				fmt.Fprintf(&out, "  - and %d fields more\n", len(c.fields)-i)
				break
			}
			out.WriteString("  - " + f.markdown() + "\n")
		}
	}
	if len(all) == 0 {
		out.WriteString("\nNothing that reaches the cluster.\n")
	}
	fence := fence(diff)
	fmt.Fprintf(&out, "\n<details><summary>The manifests' difference</summary>\n\n%sdiff\n%s%s\n\n</details>\n", fence, shortened(diff, max(0, maxBytes-out.Len())), fence)
	out.WriteString("\nThis compares manifests. It does not see secrets (a generated password, an encrypted setting), " +
		"what the cluster runs in truth, nor a change that is refused because of it: `pulumi preview` with the stack's state does.\n")
	return out.String(), nil
}

func title(e effect) string {
	return map[effect]string{
		restarts: "Restart",
		replaced: "Replaced: deleted and made anew",
		removed:  "Removed",
		created:  "Created",
		inPlace:  "Changed in place",
		ignored:  "Without effect: these fields are set only when the object is made",
	}[e]
}

// markdown shows a field, with its values when they are short.
func (f field) markdown() string {
	old, short := value(f.old)
	new, alsoShort := value(f.new)
	if !short || !alsoShort {
		return "`" + f.path + "`"
	}
	return fmt.Sprintf("`%s`: %s → %s", f.path, old, new)
}

// value shows a scalar, and says whether it fits.
func value(v any) (string, bool) {
	switch v.(type) {
	case nil:
		return "nothing", true
	case map[string]any, []any:
		return "", false
	}
	s, isText := v.(string)
	if !isText {
		data, err := json.Marshal(v) // which writes a million as 1000000
		if err != nil {
			return "", false
		}
		s = string(data)
	}
	return "`" + s + "`", s != "" && len(s) <= maxValue && !strings.ContainsAny(s, "`\n")
}

// fence is longer than any in the text: a manifest cannot end the block.
func fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// shortened cuts a text at the end of a line.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	shown := text[:strings.LastIndexByte(text[:limit], '\n')+1]
	return shown + fmt.Sprintf("... %d lines more\n", strings.Count(text[len(shown):], "\n"))
}
