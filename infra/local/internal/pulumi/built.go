package pulumi

import (
	"context"
	"io"
	"path/filepath"

	"kvinfra/infra/local/internal/build"
	"kvinfra/infra/local/internal/checkout"
)

// buildTools compiles pulumi and the plugins for the program of a module.
func buildTools(ctx context.Context, c checkout.Checkout, module string, log io.Writer) (Toolchain, error) {
	version, err := requiredVersion(c.Source("modules", "pulumi", "go.mod"), sdk)
	if err != nil {
		return Toolchain{}, err
	}
	const host = "pulumi-language-go"
	cli := build.Program{
		Name: "pulumi", Module: "pulumi", Package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
		Beside: map[string]string{host: "./language-go"}, // where the engine looks for it
		Vars:   map[string]string{sdk + "/go/common/version.Version": version},
	}
	bin, err := cli.Build(ctx, c, log)
	if err != nil {
		return Toolchain{}, err
	}
	if err := build.Link(c, bin, cli.Name); err != nil {
		return Toolchain{}, err
	}
	if err := build.Link(c, filepath.Join(filepath.Dir(bin), host), host); err != nil {
		return Toolchain{}, err
	}
	home := c.Local("home", "built")
	for _, p := range plugins() {
		if err := p.install(ctx, c, module, home, log); err != nil {
			return Toolchain{}, err
		}
	}
	return Toolchain{
		Version: version,
		bin:     bin,
		environment: []string{
			"PULUMI_HOME=" + home,
			"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
			"PULUMI_IGNORE_AMBIENT_PLUGINS=true", // the same ones, if .local/bin is on PATH
			"PULUMI_DEV=true",                    // no warning that a plugin is older than its SDK, which it is on purpose
		},
	}, nil
}

// plugin is a resource provider that we build.
type plugin struct {
	name    string
	sdk     string // module that the program uses it by
	program build.Program
}

func plugins() []plugin {
	const kubernetes = "github.com/pulumi/pulumi-kubernetes/provider/v4"
	return []plugin{
		{
			name: "kubernetes", sdk: "github.com/pulumi/pulumi-kubernetes/sdk/v4",
			program: build.Program{
				Name: "pulumi-resource-kubernetes", Module: "provider-kubernetes",
				Package: kubernetes + "/cmd/pulumi-resource-kubernetes",
				Vars:    map[string]string{kubernetes + "/pkg/version.Version": "4.25.0"}, // that of the module's commit
				Patched: kubernetes,
			},
		},
		{
			name: "random", sdk: "github.com/pulumi/pulumi-random/sdk/v4",
			program: build.Program{
				Name: "pulumi-resource-random", Module: "provider-random", Package: ".",
				Vars: map[string]string{"main.version": "4.19.2"}, // the one made of the same Terraform provider
			},
		},
	}
}

// install builds a plugin and puts it where the engine looks for the version that
// the program's SDK names, even if it is not of that version.
func (p plugin) install(ctx context.Context, c checkout.Checkout, module, home string, log io.Writer) error {
	version, err := requiredVersion(module, p.sdk)
	if err != nil {
		return err
	}
	bin, err := p.program.Build(ctx, c, log)
	if err != nil {
		return err
	}
	if err := build.Link(c, bin, p.program.Name); err != nil {
		return err
	}
	return build.LinkAt(filepath.Join(home, "plugins", "resource-"+p.name+"-"+version, p.program.Name), bin)
}
