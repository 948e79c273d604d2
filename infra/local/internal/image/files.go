package image

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// File is a file, a directory or a symbolic link in an image.
type File struct {
	Path   string      // in the image, absolute; directories above it are made
	Source string      // the file on this machine that has its content
	Link   string      // makes it a symbolic link, with this target
	Mode   fs.FileMode // fs.ModeDir makes it a directory
	Owner  int         // uid and gid
}

// openTar returns the files as a tar stream, sorted by path.
func openTar(files []File) io.ReadCloser {
	r, w := io.Pipe()
	go func() { w.CloseWithError(writeTar(w, files)) }()
	return r
}

func writeTar(w io.Writer, files []File) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	t := tar.NewWriter(w)
	made := map[string]bool{"/": true}
	for _, f := range files {
		if err := writeParents(t, path.Dir(f.Path), made); err != nil {
			return err
		}
		made[f.Path] = true
		if err := f.write(t); err != nil {
			return err
		}
	}
	return t.Close()
}

// writeParents writes the directories down to dir that made does not have.
func writeParents(t *tar.Writer, dir string, made map[string]bool) error {
	if made[dir] {
		return nil
	}
	made[dir] = true
	if err := writeParents(t, path.Dir(dir), made); err != nil {
		return err
	}
	return File{Path: dir, Mode: fs.ModeDir | 0o755}.write(t)
}

func (f File) write(t *tar.Writer) error {
	header := &tar.Header{
		Name:    strings.TrimPrefix(f.Path, "/"),
		Mode:    tarMode(f.Mode),
		ModTime: epoch,
		Uid:     f.Owner,
		Gid:     f.Owner,
	}
	switch {
	case f.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.Link, 0o777
		return t.WriteHeader(header)
	case f.Mode.IsDir():
		header.Typeflag = tar.TypeDir
		header.Name += "/"
		return t.WriteHeader(header)
	}
	source, err := os.Open(f.Source)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := t.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(t, source)
	return err
}

// tarMode translates what Go keeps outside of the nine permission bits.
func tarMode(m fs.FileMode) int64 {
	mode := int64(m.Perm())
	if m&fs.ModeSticky != 0 {
		mode |= 0o1000
	}
	return mode
}
