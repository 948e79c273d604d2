package spec

import (
	"math"
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

func TestMembersOfShards(t *testing.T) {
	c := valid()
	c.Layout = StatefulSetPerShard
	assert.Equal(t, []string{
		"hotkv-0-0.hotkv.default.svc", "hotkv-0-1.hotkv.default.svc", "hotkv-1-0.hotkv.default.svc",
		"hotkv-1-1.hotkv.default.svc", "hotkv-2-0.hotkv.default.svc", "hotkv-2-1.hotkv.default.svc",
	}, c.Hosts("hotkv"))
	assert.Contains(t, c.ConvergeVariables("hotkv", "", Converge), Variable{"SHARDS", "0 0 1 1 2 2"})
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
		"an image that has no such name":   {change: func(c *Cluster) { c.Image = "HotKV:1" }, want: `image: Invalid value: "HotKV:1": is no image's name`},
		"the Valkey image":                 {change: func(c *Cluster) { c.Server = Valkey }},
		"an unknown server":                {change: func(c *Cluster) { c.Server = "redis" }, want: `server: Unsupported value: "redis": supported values: "hotkv", "valkey"`},
		"two primaries":                    {change: func(c *Cluster) { c.Primaries = 2 }, want: "primaries: Invalid value: 2: must be at least 3"},
		"a negative number of primaries":   {change: func(c *Cluster) { c.Primaries = -3 }, want: "primaries: Invalid value: -3"},
		"five primaries":                   {change: func(c *Cluster) { c.Primaries = 5 }},
		"more nodes than a cluster has":    {change: func(c *Cluster) { c.Primaries = 501 }, want: "at most 1000"},
		"a number that overflows":          {change: func(c *Cluster) { c.Primaries, c.ReplicasPerPrimary = 4611686018427387905, 3 }, want: "at most 1000"},
		"replicas that overflow":           {change: func(c *Cluster) { c.ReplicasPerPrimary = 1 << 62 }, want: "at most 1000"},
		"no replica":                       {change: func(c *Cluster) { c.ReplicasPerPrimary = -1 }, want: "replicasPerPrimary: Invalid value: -1"},
		"two replicas":                     {change: func(c *Cluster) { c.ReplicasPerPrimary = 2 }},
		"a size that is no quantity":       {change: func(c *Cluster) { c.Storage.Size = "1G1" }, want: `storage.size: Invalid value: "1G1": is not a quantity`},
		"a volume of nothing":              {change: func(c *Cluster) { c.Storage.Size = "0" }, want: "storage.size: Invalid value"},
		"a request above its limit":        {change: func(c *Cluster) { c.Resources.Requests.Memory = "1Gi" }, want: "resources.requests.memory: Invalid value"},
		"memory that is no quantity":       {change: func(c *Cluster) { c.Resources.Limits.Memory = "much" }, want: "resources.limits.memory: Invalid value"},
		"memory of half a byte":            {change: func(c *Cluster) { c.Resources.Limits.Memory = "512m" }, want: "resources.limits.memory: Invalid value: \"512m\": is no whole number of bytes (m means thousandths); write it like 512Mi or 10Gi"},
		"memory without a unit":            {change: func(c *Cluster) { c.Resources.Limits.Memory = "512" }, want: "resources.limits.memory: Invalid value: \"512\": must be at least 16Mi"},
		"memory for too little data": {change: func(c *Cluster) {
			c.Resources.Limits.Memory, c.Resources.Requests.Memory, c.Memory.Percent = "64Mi", "64Mi", 10
		}, want: "resources.limits.memory: Invalid value: \"64Mi\": leaves 6553 KiB for data with memory.percent 10; it must leave at least 8192"},
		"memory for little data":           {change: func(c *Cluster) { c.Resources.Limits.Memory, c.Resources.Requests.Memory = "16Mi", "16Mi" }},
		"memory that overflows":            {change: func(c *Cluster) { c.Resources.Limits.Memory, c.Storage.Size = "8Ei", "1Gi" }, want: "resources.limits.memory: Invalid value: \"8Ei\": must be at most 1Pi"},
		"memory of all computers":          {change: func(c *Cluster) { c.Resources.Limits.Memory = "999999999999999999999Ei" }, want: "must be at most 1Pi"},
		"the most memory":                  {change: func(c *Cluster) { c.Resources.Limits.Memory, c.Storage.Size = "1Pi", "2Pi" }},
		"a volume of all computers":        {change: func(c *Cluster) { c.Storage.Size = "999999999999999999999Ei" }, want: "storage.size: Invalid value: \"999999999999999999999Ei\": must be at most 64Pi"},
		"a volume of half a byte":          {change: func(c *Cluster) { c.Storage.Size = "10m" }, want: "storage.size: Invalid value: \"10m\": is no whole number of bytes"},
		"thousandths of a core":            {change: func(c *Cluster) { c.Resources.Requests.CPU = "1500m" }},
		"less than a thousandth of a core": {change: func(c *Cluster) { c.Resources.Requests.CPU = "1500u" }, want: "resources.requests.cpu: Invalid value: \"1500u\": is no whole number of thousandths; write it like 500m or 2"},
		"cores of all computers":           {change: func(c *Cluster) { c.Resources.Requests.CPU = "1e30" }, want: "resources.requests.cpu: Invalid value: \"1e30\": must be at most 10k"},
		"cores that are no quantity":       {change: func(c *Cluster) { c.Resources.Requests.CPU = "two" }, want: "is not a quantity; write it like 500m or 2"},
		"the shortest node timeout":        {change: func(c *Cluster) { c.NodeTimeoutSeconds = 1 }},
		"a node timeout of over a minute":  {change: func(c *Cluster) { c.NodeTimeoutSeconds = 61 }, want: "nodeTimeoutSeconds: Invalid value: 61: must be from 1 to 60"},
		"a StatefulSet for each shard":     {change: func(c *Cluster) { c.Layout = StatefulSetPerShard }},
		"an unknown layout":                {change: func(c *Cluster) { c.Layout = "Deployment" }, want: `layout: Unsupported value: "Deployment"`},
		"pods on nodes of their own":       {change: func(c *Cluster) { c.Placement.Spread = Required }},
		"a setting in another's value":     {change: func(c *Cluster) { c.Settings = map[string]string{"maxclients": "1 --cluster-enabled no"} }, want: "settings[maxclients]: Invalid value"},
		"a value of two lines":             {change: func(c *Cluster) { c.Settings = map[string]string{"maxclients": "1\ncluster-enabled no"} }, want: "settings[maxclients]: Invalid value"},
		"an unknown spread":                {change: func(c *Cluster) { c.Placement.Spread = "Maybe" }, want: `placement.spread: Unsupported value: "Maybe"`},
		"a label of nodes":                 {change: func(c *Cluster) { c.Placement.NodeSelector = map[string]string{"disk": "ssd"} }},
		"a label that no node can have":    {change: func(c *Cluster) { c.Placement.NodeSelector = map[string]string{"a b": "x"} }, want: `placement.nodeSelector: Invalid value: "a b"`},
		"a value that no node can have":    {change: func(c *Cluster) { c.Placement.NodeSelector = map[string]string{"a": "x y"} }, want: `placement.nodeSelector[a]: Invalid value: "x y"`},
		"a tolerated taint":                {change: func(c *Cluster) { c.Placement.Tolerations = []Toleration{{Key: "kv", Effect: "NoSchedule"}} }},
		"an unknown effect of a taint":     {change: func(c *Cluster) { c.Placement.Tolerations = []Toleration{{Key: "kv", Effect: "Never"}} }, want: `placement.tolerations[0].effect: Unsupported value: "Never"`},
		"a taint's value without its key":  {change: func(c *Cluster) { c.Placement.Tolerations = []Toleration{{Value: "x"}} }, want: "placement.tolerations[0].key: Required value"},
		"every taint":                      {change: func(c *Cluster) { c.Placement.Tolerations = []Toleration{{}} }},
		"a taint that cannot exist":        {change: func(c *Cluster) { c.Placement.Tolerations = []Toleration{{Key: "a b"}} }, want: `placement.tolerations[0].key: Invalid value: "a b"`},
		"a taint's value that cannot":      {change: func(c *Cluster) { c.Placement.Tolerations = []Toleration{{Key: "a", Value: "x y"}} }, want: `placement.tolerations[0].value: Invalid value: "x y"`},
		"a priority class":                 {change: func(c *Cluster) { c.Placement.PriorityClassName = "system-cluster-critical" }},
		"a class of no priority":           {change: func(c *Cluster) { c.Placement.PriorityClassName = "High" }, want: `placement.priorityClassName: Invalid value: "High"`},
		"a server's setting":               {change: func(c *Cluster) { c.Settings = map[string]string{"maxclients": "20000"} }},
		"a setting that is a field":        {change: func(c *Cluster) { c.Settings = map[string]string{"maxmemory": "1gb"} }, want: "settings[maxmemory]: Forbidden: set memory.percent"},
		"a setting of the cluster's own":   {change: func(c *Cluster) { c.Settings = map[string]string{"cluster-announce-ip": "x"} }, want: "settings[cluster-announce-ip]: Forbidden: the cluster depends on it"},
		"a setting in capitals":            {change: func(c *Cluster) { c.Settings = map[string]string{"PORT": "1"} }, want: "settings[PORT]: Invalid value"},
		"a setting with a variable":        {change: func(c *Cluster) { c.Settings = map[string]string{"save": "$(X)"} }, want: "would take $( for a variable"},
		"another memory policy":            {change: func(c *Cluster) { c.Memory.Policy = "allkeys-lru" }},
		"an unknown memory policy":         {change: func(c *Cluster) { c.Memory.Policy = "lru" }, want: `memory.policy: Unsupported value: "lru"`},
		"all memory for data":              {change: func(c *Cluster) { c.Memory.Percent = 81 }, want: "memory.percent: Invalid value: 81: must be from 10 to 80"},
		"a cache":                          {change: func(c *Cluster) { c.Durability = Cache }},
		"an unknown durability":            {change: func(c *Cluster) { c.Durability = "some" }, want: `durability: Unsupported value: "some"`},
		"a volume too small for the data":  {change: func(c *Cluster) { c.Storage.Size = "900Mi" }, want: "storage.size: Invalid value: \"900Mi\": must be at least 922Mi, three times the memory for data (307Mi)"},
		"no volumes":                       {change: func(c *Cluster) { c.Storage = Storage{None: true} }},
		"no volumes of a size":             {change: func(c *Cluster) { c.Storage.None = true }, want: "storage.size: Forbidden: there are no volumes"},
		"no volumes of a class":            {change: func(c *Cluster) { c.Storage = Storage{None: true, ClassName: "fast"} }, want: "storage.className: Forbidden"},
		"no volumes that stay":             {change: func(c *Cluster) { c.Storage = Storage{None: true, Retention: Retain} }, want: "storage.retention: Forbidden"},
		"a class of volumes":               {change: func(c *Cluster) { c.Storage.ClassName = "fast.ssd" }},
		"a class that cannot exist":        {change: func(c *Cluster) { c.Storage.ClassName = "Fast" }, want: `storage.className: Invalid value: "Fast"`},
		"volumes that go":                  {change: func(c *Cluster) { c.Storage.Retention = Delete }},
		"an unknown retention":             {change: func(c *Cluster) { c.Storage.Retention = "Recycle" }, want: `storage.retention: Unsupported value: "Recycle"`},
		"two pods away at once":            {change: func(c *Cluster) { c.ReplicasPerPrimary = 2; c.DisruptionBudget.MaxUnavailable = 2 }},
		"both copies away at once":         {change: func(c *Cluster) { c.DisruptionBudget.MaxUnavailable = 2 }, want: "disruptionBudget.maxUnavailable: Invalid value: 2: must be from 1 to 1"},
		"no pod away":                      {change: func(c *Cluster) { c.DisruptionBudget.MaxUnavailable = -1 }, want: "disruptionBudget.maxUnavailable: Invalid value: -1"},
		"no disruption budget":             {change: func(c *Cluster) { c.DisruptionBudget = Budget{Off: true} }},
		"a budget that is off":             {change: func(c *Cluster) { c.DisruptionBudget.Off = true }, want: "disruptionBudget.maxUnavailable: Forbidden: the budget is off"},
		"a Secret that cannot exist":       {change: func(c *Cluster) { c.PasswordFrom = SecretKey{"My Secret", "pass"} }, want: `passwordFrom.name: Invalid value: "My Secret"`},
		"a key that cannot exist":          {change: func(c *Cluster) { c.PasswordFrom = SecretKey{"kv", "a/b"} }, want: `passwordFrom.key: Invalid value: "a/b"`},
		"a Secret that exists":             {change: func(c *Cluster) { c.PasswordFrom = SecretKey{"kv", "pass"} }},
		"a Secret without a key":           {change: func(c *Cluster) { c.PasswordFrom.Name = "kv" }, want: "passwordFrom: Required value: name both"},
		"a label of pods":                  {change: func(c *Cluster) { c.Labels = map[string]string{"team": "kv"} }},
		"a label that picks pods":          {change: func(c *Cluster) { c.Labels = map[string]string{"app": "x"} }, want: "labels[app]: Forbidden"},
		"a label that cannot exist":        {change: func(c *Cluster) { c.Labels = map[string]string{"a b": "x"} }, want: `labels: Invalid value: "a b"`},
		"a label's value that cannot":      {change: func(c *Cluster) { c.Labels = map[string]string{"a": "x y"} }, want: `labels[a]: Invalid value: "x y"`},
		"an annotation of pods":            {change: func(c *Cluster) { c.Annotations = map[string]string{"Backup": "any text"} }},
		"an annotation that cannot exist":  {change: func(c *Cluster) { c.Annotations = map[string]string{"a b": "x"} }, want: `annotations: Invalid value: "a b"`},
		"the restart's annotation":         {change: func(c *Cluster) { c.Annotations = map[string]string{"kvinfra/restart": "x"} }, want: "annotations[kvinfra/restart]: Forbidden"},
		"as many annotations as fit":       {change: func(c *Cluster) { c.Annotations = map[string]string{"a": strings.Repeat("x", 252<<10-1)} }},
		"more annotations than fit":        {change: func(c *Cluster) { c.Annotations = map[string]string{"a": strings.Repeat("x", 252<<10)} }, want: `annotations: Invalid value: "258049 bytes": may have at most 258048 together`},
		"an annotation with a NUL":         {change: func(c *Cluster) { c.Annotations = map[string]string{"a": "x\x00"} }, want: "annotations[a]: Invalid value"},
		"an annotation of two lines":       {change: func(c *Cluster) { c.Annotations = map[string]string{"a": "x\ny"} }},
		"a restart's long text":            {change: func(c *Cluster) { c.Restart = strings.Repeat("x", 1024) }},
		"a restart's text without end":     {change: func(c *Cluster) { c.Restart = strings.Repeat("x", 1025) }, want: "restart: Too long: may not be more than 1024 bytes"},
		"a restart's text with a NUL":      {change: func(c *Cluster) { c.Restart = "\x00" }, want: "restart: Invalid value"},
		"a repair's text without end":      {change: func(c *Cluster) { c.RunConverge = strings.Repeat("x", 1025) }, want: "runConverge: Too long"},
		"a loss's text without end":        {change: func(c *Cluster) { c.AcceptDataLoss = strings.Repeat("x", 1025) }, want: "acceptDataLoss: Too long"},
		"a setting with a NUL":             {change: func(c *Cluster) { c.Settings = map[string]string{"save": "1\x00"} }, want: "settings[save]: Invalid value: \"1\\x00\": has a control character in it"},
		"a setting with a tab":             {change: func(c *Cluster) { c.Settings = map[string]string{"save": "900\t1"} }},
		"a pull secret":                    {change: func(c *Cluster) { c.ImagePullSecrets = []string{"registry"} }},
		"a pull secret without a name":     {change: func(c *Cluster) { c.ImagePullSecrets = []string{""} }, want: `imagePullSecrets[0]: Invalid value: ""`},
		"a pull secret that cannot exist":  {change: func(c *Cluster) { c.ImagePullSecrets = []string{"Registry"} }, want: `imagePullSecrets[0]: Invalid value: "Registry"`},
		"a negative timeout":               {change: func(c *Cluster) { c.TimeoutSeconds = -1 }, want: "timeoutSeconds: Invalid value"},
		"a timeout of a day":               {change: func(c *Cluster) { c.TimeoutSeconds = 86400 }},
		"a timeout that overflows":         {change: func(c *Cluster) { c.TimeoutSeconds = math.MaxInt }, want: "timeoutSeconds: Invalid value: 9223372036854775807: must be from 1 to 86400"},
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
	one := Shape{Layout: OneStatefulSet, Primaries: 3, Replicas: 1, StorageSize: "1Gi"}
	many := one
	many.Layout = StatefulSetPerShard
	with := func(s Shape, change func(*Shape)) Shape {
		change(&s)
		return s
	}
	cases := map[string]struct {
		old, wanted Shape
		want        []string
	}{
		"nothing changes":                {old: one, wanted: one},
		"nothing is known":               {wanted: one},
		"the new value is not known":     {old: one},
		"another replica for each":       {old: one, wanted: with(one, func(s *Shape) { s.Replicas = 2 })},
		"a replica less":                 {old: with(one, func(s *Shape) { s.Replicas = 2 }), wanted: one, want: []string{"replicasPerPrimary: 2 to 1"}},
		"a replica less of each shard":   {old: with(many, func(s *Shape) { s.Replicas = 2 }), wanted: many, want: []string{"replicasPerPrimary: 2 to 1"}},
		"fewer primaries":                {old: with(one, func(s *Shape) { s.Primaries = 5 }), wanted: one, want: []string{"primaries: 5 to 3"}},
		"fewer shards":                   {old: with(many, func(s *Shape) { s.Primaries = 5 }), wanted: many},
		"more primaries":                 {old: one, wanted: with(one, func(s *Shape) { s.Primaries = 5 })},
		"fewer pods":                     {old: Shape{Pods: 6}, wanted: Shape{Pods: 5}, want: []string{"6 to 5 pods"}},
		"another namespace":              {old: Shape{Namespace: "a"}, wanted: Shape{Namespace: "b"}, want: []string{"namespace: a to b"}},
		"the same namespace":             {old: Shape{Namespace: "a"}, wanted: Shape{Namespace: "a"}},
		"more pods":                      {old: Shape{Pods: 6}, wanted: Shape{Pods: 8}},
		"another layout":                 {old: one, wanted: many, want: []string{"layout: OneStatefulSet to StatefulSetPerShard"}},
		"a larger volume":                {old: one, wanted: with(one, func(s *Shape) { s.StorageSize = "2Gi" }), want: []string{"storage.size: 1Gi to 2Gi"}},
		"a smaller volume":               {old: one, wanted: with(one, func(s *Shape) { s.StorageSize = "1Mi" }), want: []string{"storage.size: 1Gi to 1Mi"}},
		"no volumes any more":            {old: one, wanted: with(one, func(s *Shape) { s.StorageSize = "none" }), want: []string{"storage: volumes of 1Gi to no volumes"}},
		"volumes where there were none":  {old: with(one, func(s *Shape) { s.StorageSize = "none" }), wanted: one, want: []string{"storage: no volumes to volumes of 1Gi"}},
		"still no volumes":               {old: with(one, func(s *Shape) { s.StorageSize = "none" }), wanted: with(one, func(s *Shape) { s.StorageSize = "none" })},
		"the same volume in other words": {old: one, wanted: with(one, func(s *Shape) { s.StorageSize = "1024Mi" })},
		"another Secret": {old: Shape{Password: "a/key"}, wanted: Shape{Password: "b/key"}, want: []string{
			"passwordFrom: key key of Secret a to key key of Secret b", "set it back", "restart all pods at once"}},
		"another key of the Secret":        {old: Shape{Password: "a/key"}, wanted: Shape{Password: "a/other"}, want: []string{"key other of Secret a"}},
		"a Secret instead of our own":      {old: Cluster{}.Shape(), wanted: Shape{Password: "a/key"}, want: []string{"passwordFrom: the component's own Secret to key key of Secret a"}},
		"our own instead of a Secret":      {old: Shape{Password: "a/key"}, wanted: Cluster{}.Shape(), want: []string{"to the component's own Secret"}},
		"the same Secret":                  {old: Shape{Password: "a/key"}, wanted: Cluster{PasswordFrom: SecretKey{"a", "key"}}.Shape()},
		"a state without the Secret":       {old: Shape{Password: ""}, wanted: Shape{Password: "a/key"}},
		"everything at once, said at once": {old: one, wanted: with(one, func(s *Shape) { s.Primaries, s.StorageSize = 2, "2Gi" }), want: []string{"primaries: 3 to 2", "storage.size"}},
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

func TestArguments(t *testing.T) {
	c := valid()
	c.Memory.Percent = 50
	c.Durability = Cache
	c.Settings = map[string]string{"save": "", "client-output-buffer-limit": "replica 256mb 64mb 60"}
	arguments := strings.Join(c.Arguments("hotkv"), "|")
	for _, want := range []string{
		"--cluster-announce-ip|$(POD_NAME).hotkv.default.svc|",
		"|--maxmemory|268435450|--maxmemory-policy|noeviction|",
		"--cluster-replica-validity-factor|0|",
		"|--client-output-buffer-limit|replica|256mb|64mb|60|--save|",
	} {
		assert.Contains(t, arguments, want)
	}
}
