package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	engine "github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/stacks"
)

// configurationOf returns the configuration in a stack's file in root as the engine
// would hand it over: it is the engine's own code that reads it. What is encrypted
// is stacks.Hidden.
func configurationOf(project, root, stack string) (map[string]string, error) {
	file := stacks.File(stack)
	info, err := os.Stat(filepath.Join(root, file))
	if err != nil {
		return nil, fmt.Errorf("there is no stack %q: %w", stack, err)
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, fmt.Errorf("%s is no file", file)
	}
	loaded, err := workspace.LoadProjectStack(nil, &workspace.Project{Name: tokens.PackageName(project)}, filepath.Join(root, file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for key, value := range loaded.Config {
		if err := mayBeSecret(key.String(), value.Secure()); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if value.Secure() && !value.Object() {
			return nil, fmt.Errorf("%s: %s: is encrypted as a whole, so that only the engine can read it; encrypt single values in it", file, key)
		}
	}
	decrypted, err := loaded.Config.Decrypt(engine.NewBlindingDecrypter())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all := map[string]string{}
	for key, value := range decrypted {
		all[key.String()] = value
	}
	return all, nil
}

// mayBeSecret refuses an encrypted value where it would be in clear in the state and
// in Kubernetes.
func mayBeSecret(key string, isSecret bool) error {
	if !isSecret || strings.HasSuffix(key, ":cluster") {
		return nil
	}
	return fmt.Errorf("%s: has an encrypted value, and settings are kept in clear; write it without, and name a Secret where a password is meant (passwordFrom)", key)
}

// load reads the stack out of its configuration, and compares it with its own file
// and with the other stacks of the checkout.
func load(ctx *pulumi.Context, config map[string]string) (stacks.Stack, error) {
	root := ctx.RootDirectory()
	var passedOver error
	text, err := os.ReadFile(filepath.Join(root, stacks.File(ctx.Stack())))
	switch {
	case err == nil:
		passedOver = stacks.CheckFile(ctx.Project(), ctx.Stack(), text)
	case !errors.Is(err, fs.ErrNotExist): // the engine may be given another file
		return stacks.Stack{}, err
	}
	stack, err := stacks.Load(ctx.Project(), ctx.Stack(), config)
	if err := errors.Join(passedOver, err); err != nil {
		return stack, err
	}
	return stack, stack.CheckPorts(ctx.Project(), ctx.Stack(), others(ctx.Project(), root, ctx.Stack()))
}

// others returns the other stacks with a file in root, by name, but not those that
// are wrong: that is no problem of this one.
func others(project, root, stack string) map[string]stacks.Stack {
	all := map[string]stacks.Stack{}
	before, after, _ := strings.Cut(stacks.File("*"), "*")
	files, err := filepath.Glob(filepath.Join(root, stacks.File("?*")))
	if err != nil {
		return nil // the pattern is right
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), before), after)
		config, err := configurationOf(project, root, name)
		if name == stack || err != nil {
			continue
		}
		if s, err := stacks.Load(project, name, config); err == nil {
			all[name] = s
		}
	}
	return all
}
