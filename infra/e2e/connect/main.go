// Command connect writes a key into a HotKV cluster and reads it back. All that it
// knows of the cluster is what the stack tells; it runs where pods run:
//
//	pulumi stack output --json --show-secrets | connect hotkv-hotkv
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/valkey-io/valkey-go"
)

// cluster is the part of the output that a client needs.
type cluster struct {
	Addresses []string `json:"addresses"`
	Password  string   `json:"password"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pulumi stack output --json --show-secrets | connect OUTPUT")
		os.Exit(2)
	}
	if err := connect(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func connect(output string) error {
	var outputs map[string]cluster
	if err := json.NewDecoder(os.Stdin).Decode(&outputs); err != nil {
		return fmt.Errorf("read the outputs of the stack: %w", err)
	}
	c, found := outputs[output]
	if !found {
		return fmt.Errorf("the stack has no output %q", output)
	}
	client, err := valkey.NewClient(valkey.ClientOption{InitAddress: c.Addresses, Password: c.Password})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	if err := client.Do(ctx, client.B().Set().Key("greeting").Value("hello").Build()).Error(); err != nil {
		return err
	}
	value, err := client.Do(ctx, client.B().Get().Key("greeting").Build()).ToString()
	if err != nil {
		return err
	}
	fmt.Println("HotKV says", value)
	return nil
}
