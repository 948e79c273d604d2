package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChaosMooncakeClient runs clients that are configured only by what the cluster
// hands out: by variables as most are, and by the argument that SGLang takes.
func TestChaosMooncakeClient(t *testing.T) {
	s := chaosMooncake(t, "client", storeOf("mooncake", newest, ""))
	s.run(t, "up")
	var outputs map[string]struct {
		ClientConfigMap   string `json:"clientConfigMap"`
		SGLangExtraConfig string `json:"sglangExtraConfig"`
	}
	text := s.run(t, "output", "--json")
	require.Contains(t, text, "{") // the tools' own words come first
	require.NoError(t, json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &outputs))
	mine := outputs["mooncake-mooncake"]
	require.NotEmpty(t, mine.ClientConfigMap)
	for client, argument := range map[string]string{"by-variables": "", "by-argument": mine.SGLangExtraConfig} {
		quoted, err := json.Marshal(argument)
		require.NoError(t, err)
		s.apply(t, fmt.Sprintf(clientPod, client, mine.ClientConfigMap, quoted))
		eventually(t, 2*time.Minute, func(c *assert.CollectT) {
			assert.Contains(c, []string{"Succeeded", "Failed"}, s.kubectl(c, "get", "pod", client, "-o", "jsonpath={.status.phase}"))
		})
		said := s.kubectl(t, "logs", client, "--tail=5")
		t.Log(client, said)
		assert.Contains(t, said, "30 values of 1 MiB put and got")
	}
}

const clientPod = `
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  restartPolicy: Never
  enableServiceLinks: false
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: client
    image: mooncake:local
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    envFrom: [{configMapRef: {name: %s}}]
    env:
    - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: MOONCAKE_LOCAL_HOSTNAME, value: $(POD_IP)}
    command: [python3, -c]
    args:
    - |
      import json, os, sys, time
      from mooncake.store import MooncakeDistributedStore
      e = os.environ
      config = {
          "local_hostname": e["MOONCAKE_LOCAL_HOSTNAME"], "metadata_server": e["MOONCAKE_TE_META_DATA_SERVER"],
          "global_segment_size": int(e["MOONCAKE_GLOBAL_SEGMENT_SIZE"]), "protocol": e["MOONCAKE_PROTOCOL"],
          "device_name": e.get("MOONCAKE_DEVICE", ""), "master_server_address": e["MOONCAKE_MASTER"],
      }
      if sys.argv[1]: # as SGLang: then the variables do not count
          config = json.loads(sys.argv[1])
          assert config["local_hostname"] == e["POD_IP"], config
      c = lambda key: config[key]
      s = MooncakeDistributedStore()
      assert s.setup(c("local_hostname"), c("metadata_server"), c("global_segment_size"), 16 << 20,
                     c("protocol"), c("device_name"), c("master_server_address")) == 0
      values = {os.urandom(8).hex(): os.urandom(1 << 20) for n in range(30)}
      start = time.time()
      for key, value in values.items():
          assert s.put(key, value) == 0, key
      for key, value in values.items():
          assert s.get(key) == value, key
      print(f"{len(values)} values of 1 MiB put and got in {time.time() - start:.1f} s", flush=True)
      os._exit(0)
    - %s
`
