package pulumi

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const head = `Updating (dev):
 +  pulumi:pulumi:Stack kvinfra-dev creating (0s)
`

func TestDiagnosticsSayWhyAndNothingElse(t *testing.T) {
	tests := map[string]struct{ words, want string }{
		"a resource that failed": {
			words: head + `Diagnostics:
  pulumi:pulumi:Stack (kvinfra-dev):
    error: update failed
    error: an unhandled error occurred: program failed:
    waiting for RPCs: rpc error: code = Unavailable desc = resource monitor shut down

  kubernetes:core/v1:Secret (smoke):
    error: configured Kubernetes cluster is unreachable: connection refused

Outputs:
    name: "smoke"

Resources:
    3 unchanged
    2 errored

Duration: 1s
`,
			want: `  kubernetes:core/v1:Secret (smoke):
    error: configured Kubernetes cluster is unreachable: connection refused`,
		},
		"several lines of several resources": {
			words: `Diagnostics:
  kubernetes:batch/v1:Job (hotkv-init):
    error: 2 errors occurred:
    	* [Pod kv/hotkv-init-x]: [Error] shard 3: no primary
    	* [BackoffLimitExceeded] Job has reached the specified backoff limit

  pulumi:pulumi:Stack (kvinfra-dev):
    error: program failed
`,
			want: `  kubernetes:batch/v1:Job (hotkv-init):
    error: 2 errors occurred:
    	* [Pod kv/hotkv-init-x]: [Error] shard 3: no primary
    	* [BackoffLimitExceeded] Job has reached the specified backoff limit
  pulumi:pulumi:Stack (kvinfra-dev):
    error: program failed`,
		},
		"the update after a preview with a warning": {
			words: "Diagnostics:\n  a:\n    warning: preview\n\nDiagnostics:\n  a:\n    error: up\n",
			want:  "  a:\n    error: up",
		},
		"no resource was reached": {
			words: "Previewing update (dev):\nerror: no stack named 'dev' found\n",
			want:  "error: no stack named 'dev' found",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, diagnostics(tt.words)) })
	}
}

func TestChangesCountWhatTheUpdateDid(t *testing.T) {
	tests := map[string]struct{ words, want string }{
		"nothing":    {"Resources:\n    5 unchanged\n\nDuration: 1s\n", "nothing changed (5 unchanged)"},
		"first time": {"Resources:\n    + 5 to create\n\nUpdating (dev):\n\nResources:\n    + 5 created\n", "+ 5 created"},
		"some":       {"Resources:\n    ~ 1 updated\n    +-1 replaced\n    2 changes. 3 unchanged\n", "~ 1 updated, +-1 replaced, 2 changes. 3 unchanged"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, changes(tt.words)) })
	}
}
