package main

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/cluster"
	"kvinfra/infra/local/internal/image"
	"kvinfra/infra/local/internal/step"
)

// images builds the images of the product, which no registry has, and those of
// further directories, prints what they are and gives them to the local cluster.
func images(ctx context.Context, c checkout.Checkout, further []string) error {
	return step.Run("images", c.Local("log", "images.log"), func(log io.Writer) error {
		archives, err := image.Product(ctx, c, log, further...)
		if err != nil {
			return err
		}
		var paths []string
		for _, a := range archives {
			info, err := os.Stat(a.Path)
			if err != nil {
				return err
			}
			step.Say("%-18s %4d MB  %s", a.Ref, info.Size()>>20, words(a.Versions))
			paths = append(paths, a.Path)
		}
		return cluster.Load(ctx, c, log, paths...)
	})
}

// words returns the pairs of m in the order of their keys.
func words(m map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, key+" "+m[key])
	}
	return strings.Join(pairs, ", ")
}
