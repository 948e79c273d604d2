package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func valid() Cluster { return Cluster{Image: "hotkv:1"}.WithDefaults() }

func TestDefaultsAreTheSeeds(t *testing.T) {
	c := valid()
	assert.Equal(t, 3, c.Primaries)
	assert.Equal(t, 6, c.Pods())
	assert.Equal(t, "1Gi", c.Storage.Size)
	assert.Equal(t, HotKV, c.Server)
	assert.Equal(t, c, c.WithDefaults(), "defaults applied twice change something")
	assert.Empty(t, c.Validate("hotkv", nil))
}

func TestMembers(t *testing.T) {
	c := valid()
	assert.Equal(t, []string{
		"hotkv-0.hotkv.default.svc", "hotkv-1.hotkv.default.svc", "hotkv-2.hotkv.default.svc",
		"hotkv-3.hotkv.default.svc", "hotkv-4.hotkv.default.svc", "hotkv-5.hotkv.default.svc",
	}, c.Hosts("hotkv"))
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		name   string
		change func(*Cluster)
		want   string // "" when it is valid
	}{
		"a name with an upper case letter": {name: "Cache", want: "name: Invalid value"},
		"a name that starts with a digit":  {name: "1cache", want: "name: Invalid value"},
		"the longest name":                 {name: strings.Repeat("a", 14)},
		"an empty name":                    {name: "", want: "name: Invalid value"},
		"a name whose objects do not fit":  {name: strings.Repeat("a", 46), want: "at most 45 characters"},
		"a bad namespace":                  {change: func(c *Cluster) { c.Namespace = "a.b" }, want: "namespace: Invalid value"},
		"no image":                         {change: func(c *Cluster) { c.Image = "" }, want: "image: Required value"},
		"the Valkey image":                 {change: func(c *Cluster) { c.Server = Valkey }},
		"an unknown server":                {change: func(c *Cluster) { c.Server = "redis" }, want: `server: Unsupported value: "redis": supported values: "hotkv", "valkey"`},
		"two primaries":                    {change: func(c *Cluster) { c.Primaries = 2 }, want: "primaries: Invalid value: 2: must be at least 3"},
		"a negative number of primaries":   {change: func(c *Cluster) { c.Primaries = -3 }, want: "primaries: Invalid value: -3"},
		"five primaries":                   {change: func(c *Cluster) { c.Primaries = 5 }},
		"more nodes than a cluster has":    {change: func(c *Cluster) { c.Primaries = 501 }, want: "at most 1000"},
		"no replica":                       {change: func(c *Cluster) { c.ReplicasPerPrimary = -1 }, want: "replicasPerPrimary: Invalid value: -1"},
		"two replicas":                     {change: func(c *Cluster) { c.ReplicasPerPrimary = 2 }},
		"a size that is no quantity":       {change: func(c *Cluster) { c.Storage.Size = "1G1" }, want: `storage.size: Invalid value: "1G1": is not a quantity`},
		"a volume of nothing":              {change: func(c *Cluster) { c.Storage.Size = "0" }, want: "storage.size: Invalid value"},
		"a request above its limit":        {change: func(c *Cluster) { c.Resources.Requests.Memory = "1Gi" }, want: "resources.requests.memory: Invalid value"},
		"memory that is no quantity":       {change: func(c *Cluster) { c.Resources.Limits.Memory = "much" }, want: "resources.limits.memory: Invalid value"},
		"the shortest node timeout":        {change: func(c *Cluster) { c.NodeTimeoutSeconds = 1 }},
		"a node timeout of over a minute":  {change: func(c *Cluster) { c.NodeTimeoutSeconds = 61 }, want: "nodeTimeoutSeconds: Invalid value: 61: must be from 1 to 60"},
		"a negative timeout":               {change: func(c *Cluster) { c.TimeoutSeconds = -1 }, want: "timeoutSeconds: Invalid value"},
		"the longest announced name":       {change: func(c *Cluster) { c.Namespace = strings.Repeat("n", 27) }},
		"an announced name that is too long": {
			change: func(c *Cluster) { c.Namespace = strings.Repeat("n", 28) },
			want:   "46 characters long; the server takes at most 45",
		},
		"an announced name that is too long only for the last node": {
			change: func(c *Cluster) { c.Namespace = strings.Repeat("n", 27); c.Primaries = 6 },
			want:   "46 characters long",
		},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			c, name := valid(), "hotkv"
			if tc.change == nil {
				name = tc.name
			} else {
				tc.change(&c)
			}
			errs := c.Validate(name, nil)
			if tc.want == "" {
				assert.Empty(t, errs)
				return
			}
			if assert.NotEmpty(t, errs) {
				assert.Contains(t, errs.ToAggregate().Error(), tc.want)
			}
		})
	}
}

func TestEveryProblemIsReported(t *testing.T) {
	c := Cluster{Primaries: 1, Storage: Storage{Size: "x"}, Server: "redis"}.WithDefaults()
	assert.Len(t, c.Validate("Bad_Name", nil), 5)
}

func TestRefuse(t *testing.T) {
	now := Shape{Primaries: 3, Pods: 6, StorageSize: "1Gi"}
	cases := map[string]struct {
		old, wanted Shape
		want        []string
	}{
		"nothing changes":                  {old: now, wanted: now},
		"nothing is known":                 {wanted: now},
		"the new value is not known":       {old: now},
		"another replica for each":         {old: now, wanted: Shape{3, 9, "1Gi"}},
		"a replica less":                   {old: Shape{3, 9, "1Gi"}, wanted: now, want: []string{"replicasPerPrimary: 9 to 6 pods"}},
		"fewer primaries":                  {old: Shape{5, 10, "1Gi"}, wanted: now, want: []string{"primaries: 5 to 3"}},
		"more primaries":                   {old: now, wanted: Shape{5, 10, "1Gi"}},
		"fewer pods, primaries not known":  {old: Shape{Pods: 6}, wanted: Shape{Pods: 5}, want: []string{"6 to 5 pods"}},
		"a larger volume":                  {old: now, wanted: Shape{3, 6, "2Gi"}, want: []string{"storage.size: 1Gi to 2Gi"}},
		"a smaller volume":                 {old: now, wanted: Shape{3, 6, "1Mi"}, want: []string{"storage.size: 1Gi to 1Mi"}},
		"the same volume in other words":   {old: now, wanted: Shape{3, 6, "1024Mi"}},
		"everything at once, said at once": {old: now, wanted: Shape{2, 4, "2Gi"}, want: []string{"primaries: 3 to 2", "storage.size"}},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			err := Refuse(tc.old, tc.wanted)
			if len(tc.want) == 0 {
				assert.NoError(t, err)
			}
			for _, want := range tc.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

func TestAuthConfig(t *testing.T) {
	for password, quoted := range map[string]string{
		"abc123":      `"abc123"`,
		`a b#c'$(X)`:  `"a b#c'$(X)"`,
		`say "hi"\`:   `"say \"hi\"\\"`,
		"line\nbreak": `"line\x0abreak"`,
		"ü":           `"\xc3\xbc"`,
	} {
		got, err := AuthConfig(password)
		assert.NoError(t, err)
		assert.Equal(t, "requirepass "+quoted+"\nmasterauth "+quoted+"\n", got)
	}
	_, err := AuthConfig("")
	assert.ErrorContains(t, err, "empty")
}
