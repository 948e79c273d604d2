package main

import (
	"context"
	"io"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/pulumi"
	"kvinfra/infra/local/internal/step"
)

// tools finds or builds the Pulumi command line.
func tools(ctx context.Context, c checkout.Checkout, _ []string) error {
	return step.Run("tools", c.Local("log", "tools.log"), func(log io.Writer) error {
		found, err := pulumi.Tools(ctx, c, log)
		if err != nil {
			return err
		}
		step.Say("%s", found)
		return nil
	})
}
