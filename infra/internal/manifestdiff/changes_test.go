package manifestdiff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rendering has one object of each kind that changes in a way of its own.
const rendering = `---
# HotKVCluster hotkv
#   depends on: NamespacePatch kv
#   primaries: 3
---
# RandomPassword hotkv-password
#   parent: hotkv
#   length: 32
---
# kubernetes cluster
#   clusterIdentifier: kvinfra-dev
#   context: local
---
# Secret hotkv
#   parent: hotkv
kind: Secret
metadata: {name: hotkv, namespace: kv}
stringData: {password: '[secret]'}
type: Opaque
---
# ConfigMap hotkv-init
#   parent: hotkv
kind: ConfigMap
metadata: {name: hotkv-init, namespace: kv}
data:
  start.sh: |
    # a comment of the script, at the start of a line
    ---
    echo start
---
# Service hotkv
#   parent: hotkv
kind: Service
metadata: {name: hotkv, namespace: kv}
spec: {clusterIP: None, ports: [{name: client, port: 6379}]}
---
# Deployment mooncake-master
#   parent: mooncake
kind: Deployment
metadata: {name: mooncake-master, namespace: kv}
spec:
  strategy: {type: Recreate}
  selector: {matchLabels: {app: master}}
  template: {spec: {containers: [{name: master, image: 'mooncake:1'}]}}
---
# StatefulSet hotkv
#   parent: hotkv
#   depends on: Secret hotkv, Service hotkv
#   ignores changes of: spec.volumeClaimTemplates
kind: StatefulSet
metadata: {name: hotkv, namespace: kv}
spec:
  replicas: 6
  podManagementPolicy: Parallel
  template:
    spec:
      containers:
      - {name: metrics, image: 'exporter:1'}
      - {name: hotkv, image: 'hotkv:1', args: [--maxmemory, '1000000']}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {size: 1Gi}}]
---
# Job hotkv-init
#   parent: hotkv
#   ignores changes of: spec
kind: Job
metadata: {name: hotkv-init, namespace: kv}
spec: {template: {spec: {containers: [{name: init, image: 'hotkv:0'}]}}}
---
# Job hotkv-converge
#   parent: hotkv
kind: Job
metadata: {name: hotkv-converge-1, namespace: kv}
spec: {backoffLimit: 0, template: {spec: {containers: [{name: converge, image: 'hotkv:9'}]}}}
---
# CronJob hotkv-heal
#   parent: hotkv
kind: CronJob
metadata: {name: hotkv-heal, namespace: kv}
spec: {schedule: '*/5 * * * *', jobTemplate: {spec: {backoffLimit: 7}}}
`

// lines are the report's of the changes, without the diff and what follows it.
func lines(t *testing.T, base, head string) []string {
	t.Helper()
	report, err := Report("dev", "1a2b3c4", []byte(base), []byte(head), "the diff\n")
	require.NoError(t, err)
	summary, _, found := strings.Cut(report, "\n<details>")
	require.True(t, found, report)
	var lines []string
	for line := range strings.Lines(summary) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	require.Equal(t, "### Stack `dev` against 1a2b3c4", lines[0])
	return lines[1:]
}

const (
	restartTitle  = "**Restart**"
	replacedTitle = "**Replaced: deleted and made anew**"
	inPlaceTitle  = "**Changed in place**"
	ignoredTitle  = "**Without effect: these fields are set only when the object is made**"
)

func TestWhatAChangeDoes(t *testing.T) {
	for what, tc := range map[string]struct {
		old, new string
		want     []string
	}{
		"an image of a StatefulSet": {"hotkv:1", "hotkv:2", []string{
			restartTitle, "- StatefulSet `kv/hotkv`: 6 pods, one after the other",
			"- `spec.template.spec.containers[hotkv].image`: `hotkv:1` → `hotkv:2`",
		}},
		"a number stays a number that people write": {"--maxmemory, '1000000'", "--maxmemory, 2000000", []string{
			restartTitle, "- StatefulSet `kv/hotkv`: 6 pods, one after the other",
			"- `spec.template.spec.containers[hotkv].args[1]`: `1000000` → `2000000`",
		}},
		"the image of a single pod that does not roll": {"mooncake:1", "mooncake:2", []string{
			restartTitle, "- Deployment `kv/mooncake-master`: 1 pod, all stopped before new ones start",
			"- `spec.template.spec.containers[master].image`: `mooncake:1` → `mooncake:2`",
		}},
		"pods that wait to be deleted": {"  podManagementPolicy: Parallel\n  template:", "  podManagementPolicy: Parallel\n  updateStrategy: {type: OnDelete}\n  template:\n    metadata: {annotations: {a: b}}", []string{
			restartTitle, "- StatefulSet `kv/hotkv`: 6 pods when somebody deletes them",
			"- `spec.template.metadata`", "- `spec.updateStrategy`",
		}},
		"more pods": {"replicas: 6", "replicas: 8", []string{
			inPlaceTitle, "- StatefulSet `kv/hotkv`: 2 pods more", "- `spec.replicas`: `6` → `8`",
		}},
		"fewer pods": {"replicas: 6", "replicas: 5", []string{
			inPlaceTitle, "- StatefulSet `kv/hotkv`: 1 pod fewer", "- `spec.replicas`: `6` → `5`",
		}},
		"an immutable field of a StatefulSet": {"podManagementPolicy: Parallel", "podManagementPolicy: OrderedReady", []string{
			replacedTitle, "- StatefulSet `kv/hotkv`: stops 6 pods", "- `spec.podManagementPolicy`: `Parallel` → `OrderedReady`",
		}},
		"a field that is ignored": {"size: 1Gi", "size: 2Gi", []string{
			ignoredTitle, "- StatefulSet `kv/hotkv`", "- `spec.volumeClaimTemplates[0].spec.size`: `1Gi` → `2Gi`",
		}},
		"a Job that is made once": {"hotkv:0", "hotkv:2", []string{
			ignoredTitle, "- Job `kv/hotkv-init`", "- `spec.template.spec.containers[init].image`: `hotkv:0` → `hotkv:2`",
		}},
		"a Job of a new name": {"hotkv-converge-1", "hotkv-converge-2", []string{
			replacedTitle, "- Job `kv/hotkv-converge-1` by `kv/hotkv-converge-2`", "- `metadata.name`: `hotkv-converge-1` → `hotkv-converge-2`",
		}},
		"a Job of another template": {"hotkv:9", "hotkv:10", []string{
			replacedTitle, "- Job `kv/hotkv-converge-1`", "- `spec.template.spec.containers[converge].image`: `hotkv:9` → `hotkv:10`",
		}},
		"a Job's other field": {"backoffLimit: 0", "backoffLimit: 1", []string{
			inPlaceTitle, "- Job `kv/hotkv-converge-1`", "- `spec.backoffLimit`: `0` → `1`",
		}},
		"a script": {"echo start", "echo begin", []string{
			inPlaceTitle, "- ConfigMap `kv/hotkv-init`: pods that mount it see it within about a minute, without a restart; variables taken from it stay", "- `data.start.sh`",
		}},
		"a script that cannot change": {"data:\n", "immutable: true\ndata:\n  more: x\n", []string{
			replacedTitle, "- ConfigMap `kv/hotkv-init`", "- `data.more`: nothing → `x`", "- `immutable`: nothing → `true`",
		}},
		"what a CronJob starts": {"backoffLimit: 7", "backoffLimit: 8", []string{
			inPlaceTitle, "- CronJob `kv/hotkv-heal`, from its next run on", "- `spec.jobTemplate.spec.backoffLimit`: `7` → `8`",
		}},
		"a port": {"port: 6379", "port: 6380", []string{
			inPlaceTitle, "- Service `kv/hotkv`", "- `spec.ports[client].port`: `6379` → `6380`",
		}},
		"a Service's address": {"clusterIP: None", "clusterIP: 10.0.0.1", []string{
			replacedTitle, "- Service `kv/hotkv`", "- `spec.clusterIP`: `None` → `10.0.0.1`",
		}},
		"a password": {"length: 32", "length: 40", []string{
			replacedTitle, "- RandomPassword `hotkv-password`: another password is generated", "- `length`: `32` → `40`",
		}},
		"the size of a HotKV cluster": {"primaries: 3", "primaries: 4", []string{
			inPlaceTitle, "- HotKVCluster `hotkv`: whether the running one takes this, a preview with its state tells", "- `primaries`: `3` → `4`",
		}},
		"another context": {"context: local", "context: other", []string{
			inPlaceTitle, "- kubernetes `cluster`: in Pulumi only", "- `context`: `local` → `other`",
		}},
		"another Kubernetes cluster": {"kvinfra-dev", "kvinfra-prod", []string{
			replacedTitle, "- kubernetes `cluster`: another Kubernetes cluster to Pulumi, so **every object is replaced**", "- `clusterIdentifier`: `kvinfra-dev` → `kvinfra-prod`",
		}},
		"protection": {"# Secret hotkv\n", "# Secret hotkv\n#   protected: true\n", []string{
			inPlaceTitle, "- Secret `kv/hotkv`: in Pulumi only", "- `protected`: nothing → `true`",
		}},
	} {
		t.Run(what, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(rendering, tc.old), "%q", tc.old)
			assert.Equal(t, tc.want, lines(t, rendering, strings.Replace(rendering, tc.old, tc.new, 1)))
		})
	}
}

func TestWhatComesAndGoes(t *testing.T) {
	const more = `---
# StatefulSet other
kind: StatefulSet
metadata: {name: other, namespace: kv}
spec: {replicas: 2}
`
	assert.Equal(t, []string{"**Created**", "- StatefulSet `kv/other`: starts 2 pods"}, lines(t, rendering, rendering+more))
	assert.Equal(t, []string{"**Removed**", "- StatefulSet `kv/other`: stops 2 pods"}, lines(t, rendering+more, rendering))
	assert.Len(t, lines(t, "", rendering), 1+strings.Count(rendering, "---\n# "), "a new stack")
}

func TestTheGravestComesFirst(t *testing.T) {
	head := strings.NewReplacer("port: 6379", "port: 6380", "hotkv-converge-1", "hotkv-converge-2", "hotkv:1", "hotkv:2").Replace(rendering)
	var titles []string
	for _, line := range lines(t, rendering, head) {
		if strings.HasPrefix(line, "**") {
			titles = append(titles, line)
		}
	}
	assert.Equal(t, []string{restartTitle, replacedTitle, inPlaceTitle}, titles)
}

func TestTheOrderOfNamedElementsIsNoChange(t *testing.T) {
	one := "      - {name: metrics, image: 'exporter:1'}\n"
	other := "      - {name: hotkv, image: 'hotkv:1', args: [--maxmemory, '1000000']}\n"
	head := strings.Replace(rendering, one+other, other+one, 1)
	require.NotEqual(t, rendering, head)
	assert.Equal(t, []string{"Nothing that reaches the cluster."}, lines(t, rendering, head))
}

func TestNoDifference(t *testing.T) {
	report, err := Report("dev", "1a2b3c4", []byte(rendering), []byte(rendering), "")
	require.NoError(t, err)
	assert.Equal(t, "### Stack `dev`: the manifests are those of 1a2b3c4\n", report)
}

func TestAReportFitsAComment(t *testing.T) {
	var values strings.Builder
	for n := range 20 {
		fmt.Fprintf(&values, "%d: %s, ", n, strings.Repeat("x", 50))
	}
	head := strings.Replace(rendering, "data:\n", "data:\n  many: {"+values.String()+"}\n", 1)
	base := strings.Replace(rendering, "data:\n", "data:\n  many: {a: b}\n", 1)
	report, err := Report("dev", "1a2b3c4", []byte(base), []byte(head), strings.Repeat("+ a line\n", 20_000))
	require.NoError(t, err)
	assert.Contains(t, report, "- and 15 fields more")
	assert.Regexp(t, "\\+ a line\n\\.\\.\\. 15[0-9]{3} lines more\n```", report)
	assert.InDelta(t, maxBytes, len(report), 1000)
}

func TestAManifestCannotEndItsBlock(t *testing.T) {
	report, err := Report("dev", "1a2b3c4", []byte(rendering), []byte(rendering), "+```\n+</details>\n")
	require.NoError(t, err)
	assert.Contains(t, report, "\n````diff\n+```\n+</details>\n````\n")
}

func TestWhatIsNoRendering(t *testing.T) {
	_, err := Report("dev", "1a2b3c4", []byte("kind: Secret\n"), nil, "")
	assert.ErrorContains(t, err, "not with a comment that names it")
	_, err = Report("dev", "1a2b3c4", nil, []byte("---\n# Secret a\nkind: [\n"), "")
	assert.ErrorContains(t, err, "Secret a: ")
}
