package main

import (
	"context"
	"io"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/debian"
	"kvinfra/infra/local/internal/image"
	"kvinfra/infra/local/internal/step"
)

// testNeeds gets what make test calls beside Go: what runs and checks the scripts
// of the product, and the servers that they are tested against.
func testNeeds(ctx context.Context, c checkout.Checkout, _ []string) error {
	return step.Run("what the tests need", c.Local("log", "test-needs.log"), func(log io.Writer) error {
		if err := debian.Install(ctx, log, "test the scripts of the product", "python3", "shellcheck"); err != nil {
			return err
		}
		return image.Programs(ctx, c, log, "hotkv", "valkey-server", "valkey-cli")
	})
}
