package main

import (
	"context"
	"errors"
	"os"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/pulumi"
)

// clean removes all that was made: the local cluster, every state, and what was
// built, also for other checkouts.
func clean(ctx context.Context, c checkout.Checkout, args []string) error {
	if len(args) > 0 {
		return errors.New("usage: local clean")
	}
	if err := pulumi.CheckNothingElsewhere(c); err != nil {
		return err
	}
	if err := clusterDown(ctx, c, []string{"--wipe"}); err != nil {
		return err
	}
	cache, err := checkout.Cache()
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(c.Local()), os.RemoveAll(cache))
}
