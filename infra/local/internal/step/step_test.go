package step

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFailureNamesTheStepTheReasonAndTheLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log", "dig.log")
	err := Run("dig", file, func(log io.Writer) error {
		fmt.Fprintln(log, "digging")
		return errors.New("hit a rock")
	})
	assert.EqualError(t, err, "dig: hit a rock\n(log: "+file+")")
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "digging\n", string(content))
}
