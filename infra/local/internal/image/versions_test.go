package image

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionsThatTheDefinitionDoesNotAllowAreErrors(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg compares the versions, and this machine has none")
	}
	has := map[string]string{"server": "9.1.2-1", "old": "8.1.1+dfsg1-3+deb13u3", "candidate": "9.1~rc1-1", "epoch": "2:1.0-1", "wheel": "0.3.13.post1"}
	for name, tt := range map[string]struct {
		allowed map[string]string
		want    string // a regular expression
	}{
		"new enough":               {map[string]string{"server": ">= 9.1"}, ""},
		"an epoch is newer":        {map[string]string{"epoch": ">= 9.1"}, ""},
		"a pin":                    {map[string]string{"wheel": "= 0.3.13.post1"}, ""},
		"older":                    {map[string]string{"old": ">= 9.1"}, `^old is 8\.1\.1.* but must be >= 9\.1`},
		"a candidate is older":     {map[string]string{"candidate": ">= 9.1"}, `^candidate is 9\.1~rc1-1 but`},
		"another than the pin":     {map[string]string{"wheel": "= 0.3.13"}, `^wheel is 0\.3\.13\.post1 but must be = 0\.3\.13`},
		"not in the image":         {map[string]string{"none": ">= 1"}, `^none is not in the image`},
		"every problem, in order":  {map[string]string{"old": ">= 9.1", "none": ">= 1", "server": ">= 9.1"}, `(?s)^none is .*\nold is `},
		"an operator dpkg has not": {map[string]string{"server": "~> 9.1"}, `^dpkg cannot compare 9\.1\.2-1 with "~> 9\.1"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := definition{dir: "images/x", Versions: tt.allowed}.check(t.Context(), has)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Regexp(t, tt.want, err.Error())
		})
	}
}

func TestVersionsAreReadFromTheirFile(t *testing.T) {
	got, err := readVersions(source(t, "bash 5.3-4\nlibdb 1:5.3.28+dfsg2-11+b1\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"bash": "5.3-4", "libdb": "1:5.3.28+dfsg2-11+b1"}, got)
}
