package build

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/local/internal/checkout"
)

const hello = `package main

import "os"

var word = "hello"

func main() { os.Stdout.WriteString(word) }
`

// newCheckout makes a checkout whose only module prints a word, and an empty cache.
func newCheckout(t *testing.T) checkout.Checkout {
	t.Helper()
	compiled, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(compiled))) // by default it is below the next one
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	c := checkout.Checkout{Root: t.TempDir()}
	write(t, c.Source("modules", "greeter", "go.mod"), "module greeter\n\ngo 1.26.0\n")
	write(t, c.Source("modules", "greeter", "main.go"), hello)
	return c
}

func write(t *testing.T, file, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
}

func build(t *testing.T, c checkout.Checkout, p Program) string {
	t.Helper()
	binary, err := p.Build(t.Context(), c, io.Discard)
	require.NoError(t, err)
	return binary
}

func says(t *testing.T, binary string) string {
	t.Helper()
	out, err := exec.Command(binary).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

var greeter = Program{Name: "greet", Module: "greeter", Package: "."}

func TestBuildCompilesWhenAnInputChanged(t *testing.T) {
	tests := map[string]struct {
		change func(t *testing.T, c checkout.Checkout, p *Program)
		says   string
		again  bool // a second binary beside the first
	}{
		"nothing changed": {
			change: func(*testing.T, checkout.Checkout, *Program) {},
			says:   "hello",
		},
		"a source file": {
			change: func(t *testing.T, c checkout.Checkout, _ *Program) {
				write(t, c.Source("modules", "greeter", "main.go"), strings.Replace(hello, "hello", "hi", 1))
			},
			says: "hi", again: true,
		},
		"a file that was added": {
			change: func(t *testing.T, c checkout.Checkout, _ *Program) {
				write(t, c.Source("modules", "greeter", "go.sum"), "")
			},
			says: "hello", again: true,
		},
		"a linked variable": {
			change: func(_ *testing.T, _ checkout.Checkout, p *Program) {
				p.Vars = map[string]string{"main.word": "bonjour"}
			},
			says: "bonjour", again: true,
		},
		"a build tag": {
			change: func(_ *testing.T, _ checkout.Checkout, p *Program) { p.Tags = "polite" },
			says:   "hello", again: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, p := newCheckout(t), greeter
			first := build(t, c, p)
			before, err := os.Stat(first)
			require.NoError(t, err)
			tt.change(t, c, &p)
			second := build(t, c, p)
			after, err := os.Stat(second)
			require.NoError(t, err)
			assert.Equal(t, tt.again, first != second)
			assert.Equal(t, !tt.again, os.SameFile(before, after))
			assert.Equal(t, tt.says, says(t, second))
		})
	}
}

func TestBuildPutsOtherBinariesBeside(t *testing.T) {
	c, p := newCheckout(t), greeter
	write(t, c.Source("modules", "greeter", "leave", "main.go"), strings.Replace(hello, "hello", "bye", 1))
	p.Beside = map[string]string{"leave": "./leave"}
	binary := build(t, c, p)
	assert.Equal(t, "hello", says(t, binary))
	assert.Equal(t, "bye", says(t, filepath.Join(filepath.Dir(binary), "leave")))
}

func TestBuildIgnoresTheUsersGoFlags(t *testing.T) {
	c := newCheckout(t)
	first := build(t, c, greeter)
	t.Setenv("GOFLAGS", "-mod=vendor")
	assert.Equal(t, first, build(t, c, greeter))
}

// What a build that was killed leaves is no binary and does not harm the next.
func TestBuildAfterAKilledBuild(t *testing.T) {
	c := newCheckout(t)
	write(t, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "kvinfra", "programs", "greet", "work", "greet"), "half of it")
	assert.Equal(t, "hello", says(t, build(t, c, greeter)))
}

func TestBuildFailureSaysWhatAndWhere(t *testing.T) {
	c := newCheckout(t)
	write(t, c.Source("modules", "greeter", "main.go"), "package main\n\nfunc main() { nonsense() }\n")
	var log strings.Builder
	_, err := greeter.Build(t.Context(), c, &log)
	require.ErrorContains(t, err, "build greet from infra/local/modules/greeter: go build: exit status 1")
	assert.ErrorContains(t, err, "undefined: nonsense")
	assert.Contains(t, log.String(), "undefined: nonsense")
	leftovers, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "kvinfra", "programs", "greet", "*", "*"))
	require.NoError(t, err)
	assert.Empty(t, leftovers)
}

func TestConcurrentBuildsCompileOnce(t *testing.T) {
	c := newCheckout(t)
	var logs [3]strings.Builder
	var all sync.WaitGroup
	for i := range logs {
		all.Go(func() {
			_, err := greeter.Build(t.Context(), c, &logs[i])
			assert.NoError(t, err)
		})
	}
	all.Wait()
	compiled := 0
	for i := range logs {
		compiled += strings.Count(logs[i].String(), "go build")
	}
	assert.Equal(t, 1, compiled)
}

func TestBuildKeepsTheTwoLatest(t *testing.T) {
	c := newCheckout(t)
	var binaries []string
	for _, tag := range []string{"a", "b", "c"} {
		p := greeter
		p.Tags = tag
		binaries = append(binaries, build(t, c, p))
	}
	assert.NoDirExists(t, filepath.Dir(binaries[0]))
	assert.FileExists(t, binaries[1])
	assert.FileExists(t, binaries[2])
}

func TestBuildPatchesADependency(t *testing.T) {
	const patch = `--- a/word.go
+++ b/word.go
@@ -1,3 +1,3 @@
 package dep
 
-const Word = "upstream"
+const Word = "patched"
`
	newPatched := func(t *testing.T) (checkout.Checkout, Program) {
		t.Helper()
		c, p := newCheckout(t), greeter
		dep := t.TempDir()
		write(t, filepath.Join(dep, "go.mod"), "module dep\n\ngo 1.26.0\n")
		write(t, filepath.Join(dep, "word.go"), "package dep\n\nconst Word = \"upstream\"\n")
		write(t, c.Source("modules", "greeter", "go.mod"),
			"module greeter\n\ngo 1.26.0\n\nrequire dep v0.0.0\n\nreplace dep => "+dep+"\n")
		write(t, c.Source("modules", "greeter", "main.go"),
			"package main\n\nimport (\n\t\"dep\"\n\t\"os\"\n)\n\nfunc main() { os.Stdout.WriteString(dep.Word) }\n")
		p.Patched = "dep"
		return c, p
	}
	t.Run("applies", func(t *testing.T) {
		c, p := newPatched(t)
		write(t, c.Source("modules", "greeter", "word.patch"), patch)
		t.Setenv("GIT_DIR", ".git") // as in a hook
		assert.Equal(t, "patched", says(t, build(t, c, p)))
	})
	t.Run("does not apply", func(t *testing.T) {
		c, p := newPatched(t)
		write(t, c.Source("modules", "greeter", "word.patch"), strings.ReplaceAll(patch, "upstream", "something else"))
		_, err := p.Build(t.Context(), c, io.Discard)
		assert.ErrorContains(t, err, "patch does not apply")
	})
	t.Run("is missing", func(t *testing.T) {
		c, p := newPatched(t)
		_, err := p.Build(t.Context(), c, io.Discard)
		assert.ErrorContains(t, err, "there is no *.patch file in it")
	})
}

func TestLinkReplacesAnOlderLink(t *testing.T) {
	c := checkout.Checkout{Root: t.TempDir()}
	require.NoError(t, Link(c, "/old", "tool"))
	require.NoError(t, Link(c, "/new", "tool", "other-name"))
	for _, name := range []string{"tool", "other-name"} {
		target, err := os.Readlink(c.Local("bin", name))
		require.NoError(t, err)
		assert.Equal(t, "/new", target)
	}
}
