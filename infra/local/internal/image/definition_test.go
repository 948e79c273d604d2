package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// definitions is the folder with the images of the product, testDefinitions the one
// with those that only tests use.
const (
	definitions     = "../../images"
	testDefinitions = "../../../e2e/images"
)

func TestDefinitionsOfTheProduct(t *testing.T) {
	for folder, tags := range map[string][]string{
		definitions + "/hotkv": {"local", "local-next"}, testDefinitions + "/valkey": {"local", "local-next"},
		definitions + "/mooncake": {"local"}, testDefinitions + "/mooncake-older": {"local"},
	} {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			d, err := readDefinition(folder)
			require.NoError(t, err)
			assert.Equal(t, filepath.Base(folder), d.name())
			assert.Equal(t, tags, d.Tags)
			assert.NotEmpty(t, d.Suite)
			assert.NotEmpty(t, d.Entrypoint)
			assert.NotEmpty(t, d.Versions)
			assert.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, d.User, "numbers, and not root's")
			info, err := os.Stat(filepath.Join(d.dir, "customize.sh"))
			require.NoError(t, err)
			assert.NotZero(t, info.Mode()&0o100, "customize.sh can be executed")
		})
	}
}

func TestMistakeInDefinitionIsAnError(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown field": {"suite: forky\npackage: [x]\n", `unknown field "package"`},
		"wrong type":    {"tags: local\n", "tags"},
		"not YAML":      {"suite: [", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "image.yaml")
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o644))
			_, err := readDefinition(dir)
			require.ErrorContains(t, err, file)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestKeyChangesWithTheDefinition(t *testing.T) {
	key := func(change func(text string) string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "hotkv")
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(definitions, "hotkv"))))
		file := filepath.Join(dir, "image.yaml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(change(string(text))), 0o644))
		d, err := readDefinition(dir)
		require.NoError(t, err)
		k, err := d.key()
		require.NoError(t, err)
		return k
	}
	original := key(func(text string) string { return text })
	assert.Equal(t, original, key(func(text string) string { return text }), "it does not depend on the place")
	for _, change := range []struct{ from, to string }{
		{"suite: forky", "suite: sid"},
		{"- valkey-tools", "- valkey-sentinel"},
		{">= 9.1", ">= 9.2"},
		{"999:999", "998:998"},
	} {
		changed := key(func(text string) string {
			require.Contains(t, text, change.from)
			return strings.Replace(text, change.from, change.to, 1)
		})
		assert.NotEqual(t, original, changed, change.to)
	}
}

func TestEachTagIsAnImageOfItsOwn(t *testing.T) {
	d := definition{dir: "/x/hotkv", Tags: []string{"local", "local-next"}, Env: []string{"A=b"}}
	rootFS := source(t, "")
	specs := d.specs(rootFS)
	require.Len(t, specs, 2)
	assert.Equal(t, "hotkv:local", specs[0].Ref)
	assert.Equal(t, "hotkv:local-next", specs[1].Ref)
	assert.Contains(t, specs[0].Env, "A=b")

	a, b := written(t, specs[0]), written(t, specs[1])
	idA, err := a.ConfigName()
	require.NoError(t, err)
	idB, err := b.ConfigName()
	require.NoError(t, err)
	assert.NotEqual(t, idA, idB, "a rolling update between them restarts pods")
	layersA, err := a.Layers()
	require.NoError(t, err)
	layersB, err := b.Layers()
	require.NoError(t, err)
	digestA, err := layersA[0].DiffID()
	require.NoError(t, err)
	digestB, err := layersB[0].DiffID()
	require.NoError(t, err)
	assert.Equal(t, digestA, digestB, "the files are the same")
}
