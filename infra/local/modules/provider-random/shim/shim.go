// Package shim hands out the Terraform random provider, which is internal to its
// module: only a package whose path starts with that module's may import it.
package shim

import (
	"github.com/hashicorp/terraform-plugin-framework/provider"
	internal "github.com/terraform-providers/terraform-provider-random/internal/provider"
)

// New returns the provider.
func New() provider.Provider { return internal.New() }
