package spec

import (
	"embed"
	"io/fs"
)

//go:embed scripts/*.py
var scripts embed.FS

// Scripts returns the programs that run in the cluster, by file name. They import
// each other.
func Scripts() map[string]string {
	all := map[string]string{}
	files, _ := fs.Glob(scripts, "scripts/*.py") // the pattern is right
	for _, file := range files {
		text, _ := scripts.ReadFile(file) // it is embedded
		all[file[len("scripts/"):]] = string(text)
	}
	return all
}
