package main

import (
	"context"
	"io"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/debian"
	"kvinfra/infra/local/internal/image"
	"kvinfra/infra/local/internal/step"
)

// testNeeds gets what make test calls beside Go: a linter for shell scripts, and
// the servers that the scripts of the product are tested against.
func testNeeds(ctx context.Context, c checkout.Checkout, _ []string) error {
	return step.Run("what the tests need", c.Local("log", "test-needs.log"), func(log io.Writer) error {
		if err := debian.Install(ctx, log, "check the shell scripts", "shellcheck"); err != nil {
			return err
		}
		return image.Programs(ctx, c, log, "hotkv", "valkey-server", "valkey-cli")
	})
}
