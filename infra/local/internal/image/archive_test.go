package image

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// source makes a file of this machine with that content.
func source(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "source")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// written writes the image and reads it back.
func written(t *testing.T, s Spec) v1.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, s.Write(path))
	img, err := tarball.ImageFromPath(path, nil)
	require.NoError(t, err)
	return img
}

// content returns the headers in the image's file system by name, and the
// content of its regular files.
func content(t *testing.T, img v1.Image) (map[string]*tar.Header, map[string]string) {
	t.Helper()
	stream := mutate.Extract(img)
	defer stream.Close()
	headers, files := map[string]*tar.Header{}, map[string]string{}
	for r := tar.NewReader(stream); ; {
		h, err := r.Next()
		if err == io.EOF {
			return headers, files
		}
		require.NoError(t, err)
		headers[h.Name] = h
		if h.Typeflag == tar.TypeReg {
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			files[h.Name] = string(text)
		}
	}
}

func TestSameInputsGiveTheSameBytes(t *testing.T) {
	archive := func(changed time.Time, order func([]File)) []byte {
		t.Helper()
		files := []File{
			{Path: "/bin/b", Source: source(t, "b"), Mode: 0o755},
			{Path: "/bin/a", Source: source(t, "a"), Mode: 0o755},
			{Path: "/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		}
		for _, f := range files[:2] {
			require.NoError(t, os.Chtimes(f.Source, changed, changed))
		}
		order(files)
		path := filepath.Join(t.TempDir(), "image.tar")
		require.NoError(t, Spec{Ref: "x:y", Labels: map[string]string{"a": "1", "b": "2"}, Files: files}.Write(path))
		bytes, err := os.ReadFile(path)
		require.NoError(t, err)
		return bytes
	}
	first := archive(time.Unix(1, 0), func([]File) {})
	second := archive(time.Now(), slices.Reverse[[]File])
	assert.Equal(t, first, second)
}

func TestConfigSaysHowTheImageStarts(t *testing.T) {
	img := written(t, Spec{
		Ref:        "hotkv:local",
		Entrypoint: []string{"server"},
		Cmd:        []string{"--port", "1"},
		Env:        []string{"PATH=/bin"},
		User:       "999:999",
		WorkingDir: "/data",
		Labels:     map[string]string{"key": "value"},
		Files:      []File{{Path: "/server", Source: source(t, "x"), Mode: 0o755}},
	})
	config, err := img.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, v1.Config{
		Entrypoint: []string{"server"},
		Cmd:        []string{"--port", "1"},
		Env:        []string{"PATH=/bin"},
		User:       "999:999",
		WorkingDir: "/data",
		Labels:     map[string]string{"key": "value"},
	}, config.Config)
	assert.Equal(t, "linux", config.OS)
	assert.True(t, config.Created.Equal(epoch))
}

func TestArchiveCarriesTheName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, Spec{Ref: "hotkv:local"}.Write(path))
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(path) })
	require.NoError(t, err)
	require.Len(t, manifest, 1)
	assert.Equal(t, []string{"hotkv:local"}, manifest[0].RepoTags)
}

func TestFilesLieAboveTheRootFileSystem(t *testing.T) {
	rootFS := filepath.Join(t.TempDir(), "rootfs.tar")
	below, err := os.Create(rootFS)
	require.NoError(t, err)
	require.NoError(t, writeTar(below, []File{
		{Path: "/etc/same", Source: source(t, "below"), Mode: 0o644},
		{Path: "/etc/other", Source: source(t, "other"), Mode: 0o644},
	}))
	require.NoError(t, below.Close())

	headers, files := content(t, written(t, Spec{Ref: "x:y", RootFS: rootFS, Files: []File{
		{Path: "/etc/same", Source: source(t, "above"), Mode: 0o755, Owner: 7},
		{Path: "/etc/deep/link", Link: "../same"},
		{Path: "/tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	}}))
	assert.Equal(t, map[string]string{"etc/same": "above", "etc/other": "other"}, files)

	same := headers["etc/same"]
	assert.Equal(t, int64(0o755), same.Mode)
	assert.Equal(t, []int{7, 7}, []int{same.Uid, same.Gid})
	assert.Equal(t, byte(tar.TypeSymlink), headers["etc/deep/link"].Typeflag)
	assert.Equal(t, "../same", headers["etc/deep/link"].Linkname)
	for dir, mode := range map[string]int64{"etc": 0o755, "etc/deep": 0o755, "tmp": 0o1777} {
		require.Contains(t, headers, dir)
		assert.Equal(t, byte(tar.TypeDir), headers[dir].Typeflag, dir)
		assert.Equal(t, mode, headers[dir].Mode, dir)
	}
}

func TestFailedWriteNamesTheImageAndLeavesNoFile(t *testing.T) {
	for name, tt := range map[string]struct {
		spec Spec
		want string
	}{
		"a source is missing":    {Spec{Ref: "x:y", Files: []File{{Path: "/a", Source: "/no/such/file"}}}, "/no/such/file"},
		"a root file is missing": {Spec{Ref: "x:y", RootFS: "/no/such/tar"}, "/no/such/tar"},
		"the name is not one":    {Spec{Ref: "X:y"}, "repository can only contain"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := tt.spec.Write(filepath.Join(dir, "image.tar"))
			require.ErrorContains(t, err, "image "+tt.spec.Ref)
			assert.ErrorContains(t, err, tt.want)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}
