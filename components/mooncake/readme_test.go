package mooncake_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/mooncake"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

func TestTheREADMEHasThePortsOfEveryCluster(t *testing.T) {
	name := map[mooncake.Party]string{
		mooncake.Masters: "masters", mooncake.Stores: "stores", mooncake.Check: "the check",
		mooncake.Clients: "clients", mooncake.Monitoring: "monitoring", mooncake.Etcd: "etcd",
	}
	inMaster, inEtcd, several := specs()["default"], specs()["default"], specs()["default"]
	inMaster.Metadata.Mode = mooncake.MetadataHTTP
	inEtcd.Metadata = mooncake.Metadata{Mode: mooncake.MetadataEtcd, Etcd: []string{"etcd:2379"}}
	several.HighAvailability.Etcd = []string{"etcd:2379"}
	var want []string
	for _, s := range []mooncake.Spec{inMaster, inEtcd, several} {
		for _, p := range s.WithDefaults().Ports() {
			port := fmt.Sprint(p.First, " ", p.Name)
			if p.First != p.Last {
				port = fmt.Sprint(p.First, "-", p.Last, " ", p.Name)
			}
			if p.Of == mooncake.Etcd {
				port = "as named"
			}
			var users []string
			for _, user := range p.Users {
				users = append(users, name[user])
			}
			want = append(want, strings.Join([]string{name[p.Of], port, strings.Join(users, ", ")}, " | "))
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)

	_, section, found := strings.Cut(readme(t), "\n## Ports\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (.* \| .* \| .*) \| .* \|$`).FindAllStringSubmatch(section, -1)
	require.NotEmpty(t, rows)
	var got []string
	for _, row := range rows[1:] { // the first is the head
		got = append(got, row[1])
	}
	assert.ElementsMatch(t, want, got)
}

func TestTheREADMENamesOutputsThatThereAre(t *testing.T) {
	var outputs []string
	for cluster, i := reflect.TypeFor[mooncake.Cluster](), 0; i < cluster.NumField(); i++ {
		outputs = append(outputs, cluster.Field(i).Tag.Get("pulumi"))
	}
	mentions := regexp.MustCompile("\\boutputs? ((?:(?:, | and )?`\\w+`)+)").FindAllStringSubmatch(readme(t), -1)
	assert.Len(t, mentions, strings.Count(readme(t), "output"), "an output is mentioned without its name")
	for _, mention := range mentions {
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(strings.ReplaceAll(mention[1], " and ", ""), -1) {
			assert.Contains(t, outputs, name)
		}
	}
}
