package main

import (
	"context"
	"io"
	"maps"
	"os"
	"slices"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/pulumi"
	"kvinfra/infra/local/internal/step"
)

// verb is something to do with a stack. The arguments go to pulumi.
type verb func(ctx context.Context, c checkout.Checkout, s pulumi.Stack, args []string) error

func verbs() map[string]verb {
	return map[string]verb{
		"preview": preview,
		"up":      up,
		"refresh": accept("refresh", "--skip-preview"),
		// Only its preview sees a protected object before anything is gone.
		"destroy": accept("destroy"),
		"output":  output,
		"unlock":  unlock,
	}
}

func verbNames() []string { return slices.Sorted(maps.Keys(verbs())) }

// stack does something with a stack of the checkout.
func stack(ctx context.Context, c checkout.Checkout, args []string) error {
	if len(args) < 2 || len(args) > 2 && args[2] != "--" || verbs()[args[0]] == nil {
		return usage()
	}
	s, err := pulumi.Find(c, args[1])
	if err != nil {
		return err
	}
	return verbs()[args[0]](ctx, c, s, args[min(3, len(args)):])
}

// preview shows what up would do. It needs no cluster.
func preview(ctx context.Context, c checkout.Checkout, s pulumi.Stack, args []string) error {
	s, err := openCompiled(ctx, c, s)
	if err != nil {
		return err
	}
	return s.Run(ctx, os.Stdout, os.Stderr, "preview", args...)
}

// accept returns a verb that does what pulumi would ask to confirm.
func accept(command string, options ...string) verb {
	return func(ctx context.Context, c checkout.Checkout, s pulumi.Stack, args []string) error {
		s, err := open(ctx, c, s)
		if err != nil {
			return err
		}
		return s.Run(ctx, os.Stdout, os.Stderr, command, slices.Concat([]string{"--yes"}, options, args)...)
	}
}

func output(ctx context.Context, c checkout.Checkout, s pulumi.Stack, args []string) error {
	s, err := open(ctx, c, s)
	if err != nil {
		return err
	}
	return s.Output(ctx, os.Stdout, os.Stderr, args...)
}

// unlock brings a stack back after its run was killed.
func unlock(ctx context.Context, c checkout.Checkout, s pulumi.Stack, _ []string) error {
	s, err := openCompiled(ctx, c, s)
	if err != nil {
		return err
	}
	return step.RunFile("unlock "+s.Name, c.Local("log", "unlock.log"), func(log *os.File) error {
		did, err := s.Unlock(ctx, log)
		if err == nil {
			step.Say("%s", did)
		}
		return err
	})
}

// open returns the stack ready to be worked on.
func open(ctx context.Context, c checkout.Checkout, s pulumi.Stack) (pulumi.Stack, error) {
	err := step.Run("tools", c.Local("log", "tools.log"), func(log io.Writer) error {
		tools, err := pulumi.Tools(ctx, c, log)
		if err != nil {
			return err
		}
		step.Say("%s", tools)
		s, err = s.Open(ctx, tools, log)
		return err
	})
	return s, err
}

// openCompiled is open for what runs the program.
func openCompiled(ctx context.Context, c checkout.Checkout, s pulumi.Stack) (pulumi.Stack, error) {
	s, err := open(ctx, c, s)
	if err != nil {
		return s, err
	}
	return s, step.Run("program", c.Local("log", "program.log"), func(log io.Writer) error { return s.Compile(ctx, log) })
}
