package spec

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inFamily says whether a host is of the cluster called name, as the scripts ask.
func inFamily(t *testing.T, c Cluster, name, host string) bool {
	t.Helper()
	out, err := exec.Command("bash", "-O", "extglob", "-c", `case $1 in $2) echo yes ;; *) echo no ;; esac`, "-", host, c.family(name)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out) == "yes\n"
}

func TestFamily(t *testing.T) {
	for _, layout := range Layout("").Choices() {
		c := valid()
		c.Layout = layout
		for _, host := range c.Hosts("kv") {
			assert.True(t, inFamily(t, c, "kv", host), host)
		}
	}
	c := valid()
	for host, want := range map[string]bool{
		"kv-17.kv.default.svc":            true, // who left, or is yet to come
		"kv-17-3.kv.default.svc":          true,
		"kv.default.svc":                  false,
		"kv-.kv.default.svc":              false,
		"kv-0.kv.other.svc":               false,
		"kv-0-0.kv-0.default.svc":         false, // of a cluster called kv-0
		"kv-0.evil.kv.default.svc":        false,
		"kv-x.kv.default.svc":             false,
		"kv-0.kv.default.svc.example.com": false,
		"kv-0\n.kv.default.svc":           false,
	} {
		assert.Equal(t, want, inFamily(t, c, "kv", host), "%q", host)
	}
}

func TestTheFamilyIsOneTextEverywhere(t *testing.T) {
	c := valid()
	const want = "FAMILY='kv-+([0-9-]).kv.default.svc'\n"
	assert.Equal(t, want, c.LifecycleScripts("kv")[FamilyFile])
	assert.Contains(t, c.InitVariables("kv"), want)
}

// A script that sources another finds it in its own directory.
func TestAnswersIsBesideTheScriptsThatReadIt(t *testing.T) {
	scripts, err := ConvergeScripts()
	require.NoError(t, err)
	assert.NotEmpty(t, scripts[AnswersFile])
	assert.Equal(t, scripts[AnswersFile], valid().LifecycleScripts("kv")[AnswersFile])
}
