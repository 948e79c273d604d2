package manifestdiff

import (
	"fmt"
	"slices"
	"strings"
)

// effect is what a change does, the gravest first.
type effect int

const (
	restarts effect = iota
	replaced
	removed
	created
	inPlace
	ignored
)

// change is one object's.
type change struct {
	effect effect
	what   string // the object, and what happens to it, in Markdown
	fields []field
}

// changes compares two renderings object by object.
func changes(base, head []byte) ([]change, error) {
	before, err := parse(base)
	if err != nil {
		return nil, err
	}
	after, err := parse(head)
	if err != nil {
		return nil, err
	}
	old := map[string]object{}
	for _, o := range before {
		old[o.key()] = o
	}
	var all []change
	for _, o := range after {
		was, existed := old[o.key()]
		delete(old, o.key())
		if !existed {
			all = append(all, change{effect: created, what: label(o) + withPods(o, "starts")})
			continue
		}
		all = append(all, update(was, o)...)
	}
	for _, o := range before {
		if _, gone := old[o.key()]; gone {
			all = append(all, change{effect: removed, what: label(o) + withPods(o, "stops")})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return int(a.effect) - int(b.effect) })
	return all, nil
}

// update returns the changes of an object that stays.
func update(was, is object) []change {
	var effective, without []field
	for _, f := range fields("", was.manifest, is.manifest) {
		if f.below(is.ignores()...) {
			without = append(without, f)
		} else {
			effective = append(effective, f)
		}
	}
	notes := fields("", was.notes, is.notes)

	var all []change
	switch {
	case len(effective) > 0 && anyBelow(effective, fixed(is)...):
		what := label(was)
		if was.place() != is.place() {
			what += " by `" + is.place() + "`"
		}
		all = append(all, change{replaced, what + withPods(was, "stops"), effective})
	case is.pods() > 0 && anyBelow(effective, "spec.template"):
		all = append(all, change{restarts, label(is) + ": " + restart(was, is), effective})
	case len(effective) > 0:
		all = append(all, change{inPlace, label(is) + consequence(was, is, effective), effective})
	}
	if len(without) > 0 {
		all = append(all, change{ignored, label(is), without})
	}
	if len(notes) > 0 {
		all = append(all, ofNotes(is, notes))
	}
	return all
}

// fixed are the fields of which the Kubernetes provider replaces the object, as far
// as the components have them.
func fixed(o object) []string {
	paths := []string{"metadata.name", "metadata.namespace"}
	switch o.kind {
	case "Job":
		paths = append(paths, "spec.template", "spec.completions", "spec.parallelism", "spec.selector")
	case "StatefulSet":
		paths = append(paths, "spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.revisionHistoryLimit", "spec.volumeClaimTemplates")
	case "Deployment":
		paths = append(paths, "spec.selector")
	case "Service":
		paths = append(paths, "spec.clusterIP")
	case "Secret":
		paths = append(paths, "type")
	}
	if o.manifest["immutable"] == true {
		paths = append(paths, "data", "binaryData", "stringData")
	}
	return paths
}

// restart says how pods of a changed template are exchanged.
func restart(was, is object) string {
	n := min(was.pods(), is.pods())
	switch {
	case at(is.manifest, "spec.updateStrategy.type") == "OnDelete":
		return count(n) + " when somebody deletes them"
	case at(is.manifest, "spec.strategy.type") == "Recreate":
		return count(n) + ", all stopped before new ones start"
	case n == 1:
		return count(n)
	default:
		return count(n) + ", one after the other"
	}
}

// consequence says what an update in place does beyond the object itself.
func consequence(was, is object, effective []field) string {
	switch more := is.pods() - was.pods(); {
	case more > 0:
		return fmt.Sprintf(": %s more", count(more))
	case more < 0:
		return fmt.Sprintf(": %s fewer", count(-more))
	case is.kind == "CronJob" && anyBelow(effective, "spec.jobTemplate"):
		return ", from its next run on"
	case is.kind == "ConfigMap":
		return ": pods that mount it see it within about a minute, without a restart; variables taken from it stay"
	}
	return ""
}

// ofNotes is the change of what the engine alone sees, or of another provider's
// object.
func ofNotes(o object, notes []field) change {
	switch {
	case o.kind == "RandomPassword" && slices.ContainsFunc(notes, func(f field) bool { return !isOption(f) }):
		return change{replaced, label(o) + ": another password is generated", notes}
	case o.kind == "kubernetes" && anyBelow(notes, "clusterIdentifier"):
		return change{replaced, label(o) + ": another Kubernetes cluster to Pulumi, so **every object is replaced**", notes}
	case strings.HasSuffix(o.kind, "Cluster"):
		return change{inPlace, label(o) + ": whether the running one takes this, a preview with its state tells", notes}
	default:
		return change{inPlace, label(o) + ": in Pulumi only", notes}
	}
}

// isOption tells an option of Pulumi's from an input.
func isOption(f field) bool {
	return f.below(parentNote, ignoresNote, "depends on", "protected")
}

func label(o object) string { return o.kind + " `" + o.place() + "`" }

func withPods(o object, verb string) string {
	if o.pods() == 0 {
		return ""
	}
	return fmt.Sprintf(": %s %s", verb, count(o.pods()))
}

func count(pods int) string {
	if pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", pods)
}
