//go:build !linux

package cluster

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"kvinfra/infra/local/internal/checkout"
)

// The words of the commands, none of which works here.
const (
	NodeCommand    = "node"
	RunNodeCommand = "run-node"
	RunAPICommand  = "run-api"
)

func elsewhere() error {
	return instead(fmt.Errorf("the local cluster needs Linux, and this is %s", runtime.GOOS))
}

// Up fails: see elsewhere.
func Up(context.Context, checkout.Checkout, io.Writer) error { return elsewhere() }

// Down has nothing to end here.
func Down(context.Context, checkout.Checkout, bool, io.Writer) error { return nil }

// Load fails: see elsewhere.
func Load(context.Context, checkout.Checkout, io.Writer, ...string) error { return elsewhere() }

// Status fails: see elsewhere.
func Status(context.Context, checkout.Checkout, io.Writer) error { return elsewhere() }

// UpAPI fails: see elsewhere.
func UpAPI(context.Context, checkout.Checkout, io.Writer) error { return elsewhere() }

// DownAPI has nothing to end here.
func DownAPI(context.Context, checkout.Checkout) error { return nil }

// RunAPI fails: see elsewhere.
func RunAPI(context.Context, checkout.Checkout) error { return elsewhere() }

// RunNode fails: see elsewhere.
func RunNode(context.Context, checkout.Checkout) error { return elsewhere() }

// Node fails: see elsewhere.
func Node(context.Context, checkout.Checkout) error { return elsewhere() }
