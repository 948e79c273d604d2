package componenttest

import (
	"math/rand/v2"
	"strings"
)

// Chooser chooses what a component's fields are, the same in each run.
type Chooser struct{ *rand.Rand }

// NewChooser returns one whose choices the seed decides.
func NewChooser(seed uint64) Chooser { return Chooser{rand.New(rand.NewPCG(seed, seed+1))} }

// Choose returns one of several values.
func Choose[T any](c Chooser, of ...T) T { return of[c.IntN(len(of))] }

// Name returns a name of at most that many letters.
func (c Chooser) Name(longest int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var name strings.Builder
	for range 1 + c.IntN(longest) {
		name.WriteByte(letters[c.IntN(len(letters))])
	}
	return name.String()
}
