package debian

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConnectionKeepsHowToFetchOnly(t *testing.T) {
	conf := `Acquire::IndexTargets::deb::Packages::MetaKey "x";
Acquire::Check-Valid-Until "false";
acquire::HTTP::Proxy "http://proxy.example:3128";
Acquire::https::CAInfo "/etc/ssl/own.pem";
Acquire::Changelogs::URI::Origin::Debian "https://example.org/";
Acquire::Retries "3";
Acquire::Languages:: "none";
`
	assert.Equal(t, `Acquire::Check-Valid-Until "false";
acquire::HTTP::Proxy "http://proxy.example:3128";
Acquire::https::CAInfo "/etc/ssl/own.pem";
Acquire::Retries "3";
`, connection(conf))
}

func TestMissingNamesWhatIsNotInstalled(t *testing.T) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("this is not Debian")
	}
	assert.Equal(t, []string{"no-such-package"}, missing(t.Context(), []string{"dpkg", "no-such-package"}))
	assert.Empty(t, missing(t.Context(), []string{"dpkg"}))
}
