package main

import (
	"context"

	pf "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
	"github.com/terraform-providers/terraform-provider-random/shim"
)

// version is that of the SDK whose resources we serve; the linker sets it.
var version string

func main() {
	empty := []byte("{}")
	info := tfbridge.ProviderInfo{
		P:            pf.ShimProvider(shim.New()),
		Name:         "random",
		Version:      version,
		MetadataInfo: tfbridge.NewProviderMetadata(empty),
	}
	standard := tokens.MakeStandard("random")
	info.MustComputeTokens(tokens.SingleModule("random_", "index", func(module, name string) (string, error) {
		return standard(module, "Random"+name) // random_password is RandomPassword
	}))
	pf.Main(context.Background(), "random", info, pf.ProviderMetadata{PackageSchema: empty})
}
