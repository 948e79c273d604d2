//go:build linux

package cluster

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/local/internal/checkout"
)

func TestWhoRuns(t *testing.T) {
	const socket = "@kvinfra-test-who-runs"
	t.Run("nobody", func(t *testing.T) {
		running, err := whoRuns(t.Context(), socket)
		require.NoError(t, err)
		assert.Nil(t, running)
	})
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	want := presence{Root: "/some/checkout", Pid: 1, Node: 2, Programs: "some"}
	go announce(listener, want)
	t.Run("somebody", func(t *testing.T) {
		running, err := whoRuns(t.Context(), socket)
		require.NoError(t, err)
		assert.Equal(t, &want, running)
	})
	t.Run("of this checkout", func(t *testing.T) {
		running, err := runningHere(t.Context(), checkout.Checkout{Root: want.Root}, socket)
		require.NoError(t, err)
		assert.Equal(t, &want, running)
	})
	t.Run("of another checkout, which is named", func(t *testing.T) {
		_, err := runningHere(t.Context(), checkout.Checkout{Root: "/another"}, socket)
		assert.ErrorContains(t, err, "the local cluster of /some/checkout is running")
	})
	require.NoError(t, listener.Close())
	t.Run("nobody any more", func(t *testing.T) {
		running, err := whoRuns(t.Context(), socket)
		require.NoError(t, err)
		assert.Nil(t, running)
	})
}

func TestWaitSaysWhatFailedAndWhy(t *testing.T) {
	fail := func(context.Context) error { return net.ErrClosed }
	t.Run("when patience ends", func(t *testing.T) {
		err := wait(t.Context(), time.Millisecond, "the thing is not there", fail)
		assert.ErrorContains(t, err, "the thing is not there: ")
		assert.ErrorIs(t, err, net.ErrClosed)
	})
	t.Run("when what it waits for ended", func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		end(net.ErrWriteToConnected)
		assert.ErrorIs(t, wait(ctx, time.Minute, "the thing is not there", fail), net.ErrWriteToConnected)
	})
}
