package spec

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWaitsGrowWithTheData(t *testing.T) {
	for memory, want := range map[string][3]int{
		"256Mi": {72, 102, 171},
		"512Mi": {85, 115, 222},
		"16Gi":  {879, 909, 3396},
	} {
		c := Cluster{Resources: Resources{Limits: Amounts{Memory: memory}}}
		assert.Equal(t, want, [3]int{c.HandoverSeconds(), c.GraceSeconds(), c.StartSeconds()}, memory)
	}
}

func TestReadiness(t *testing.T) {
	const (
		me    = "1111111111111111111111111111111111111111"
		other = "2222222222222222222222222222222222222222"
	)
	// Answers of a server, as its client prints them.
	node := func(role, link, state, known, uptime string, lines ...string) map[string]string {
		return map[string]string{
			"ping":             "PONG",
			"info server":      "# Server\r\nuptime_in_seconds:" + uptime + "\r\n",
			"info replication": "# Replication\r\nrole:" + role + "\r\nmaster_host:b.kv.svc\r\nmaster_link_status:" + link + "\r\n",
			"cluster info":     "cluster_state:" + state + "\r\ncluster_known_nodes:" + known + "\r\n",
			"cluster nodes":    strings.Join(lines, "\n"),
		}
	}
	says := func(error string) map[string]string { return map[string]string{"": error} }
	replica := me + " a.kv.svc:6379@16379 myself,slave " + other + " 0 0 1 connected"
	primary := func(flags string) string { return other + " b.kv.svc:6379@16379 " + flags + " - 0 0 1 connected 0-100" }
	alone := me + " a.kv.svc:6379@16379 myself,master - 0 0 1 connected 0-100"
	cases := map[string]struct {
		answer map[string]string // by question
		ready  bool
	}{
		"nothing":                                  {nil, false},
		"no connection":                            {says("Could not connect to Valkey at 127.0.0.1:6379: Connection refused"), false},
		"a server that loads":                      {says("LOADING Valkey is loading the dataset in memory"), false},
		"a wrong password":                         {says("NOAUTH Authentication required."), false},
		"a replica in sync":                        {node("slave", "up", "fail", "2", "1", replica, primary("master")), true},
		"a replica out of sync":                    {node("slave", "down", "ok", "2", "900", replica, primary("master")), false},
		"a replica of a primary about to stop":     {node("slave", "down", "ok", "2", "900", replica, primary("master,nofailover")), false},
		"a replica of a dead primary":              {node("slave", "down", "fail", "2", "1", replica, primary("master,fail")), true},
		"a replica of a primary that seems dead":   {node("slave", "down", "fail", "2", "1", replica, primary("master,fail?")), true},
		"a replica of a primary without address":   {node("slave", "down", "ok", "2", "1", replica, primary("master,noaddr")), true},
		"a replica of a primary that is forgotten": {node("slave", "down", "ok", "1", "1", replica), true},
		"a young primary in a cluster that works":  {node("master", "", "ok", "6", "1", alone), true},
		"a young primary in one that does not":     {node("master", "", "fail", "6", "59", alone), false},
		"an old primary in one that does not":      {node("master", "", "fail", "6", "60", alone), true},
		"a node that knows only itself":            {node("master", "", "fail", "1", "1", alone), true},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cli := answering(t, tc.answer)
			out, err := exec.Command("bash", ReadyFile, cli).CombinedOutput()
			assert.Equal(t, tc.ready, err == nil, "%s", out)

			marker := filepath.Join(dir, "settled")
			assert.Error(t, exec.Command("bash", ReadyFile, cli, marker).Run(), "a node that may be missed")
			require.NoError(t, os.WriteFile(marker, nil, 0o600))
			assert.Equal(t, tc.ready, exec.Command("bash", ReadyFile, cli, marker).Run() == nil, "a node that nobody misses")
		})
	}
}

// answering returns a client program that has an answer for each question. Where there is
// one for the empty question, it answers all of them.
func answering(t *testing.T, answers map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for question, answer := range answers {
		require.NoError(t, os.WriteFile(filepath.Join(dir, question+" answer"), []byte(answer+"\n"), 0o600))
	}
	cli := filepath.Join(dir, "cli")
	require.NoError(t, os.WriteFile(cli, []byte(fmt.Sprintf(`#!/bin/bash
cd %q
while read -r question; do
  if [[ -e " answer" ]]; then
    cat " answer"
  elif [[ $question == echo\ * ]]; then
    echo "${question#echo }"
  else
    cat "$question answer"
  fi
done
`, dir)), 0o700))
	return cli
}

// cli returns a client program of node i, as its own pod has it. Before each call
// it runs some lines of shell.
func (l *lab) cli(i int, before string) string {
	l.t.Helper()
	file, err := os.CreateTemp(l.dir, "cli")
	require.NoError(l.t, err)
	_, err = fmt.Fprintf(file, "#!/bin/bash\n%s\nexec valkey-cli -h %s -p %s \"$@\"\n", before, l.hosts[i], l.port)
	require.NoError(l.t, err)
	require.NoError(l.t, file.Close())
	require.NoError(l.t, os.Chmod(file.Name(), 0o700))
	return file.Name()
}

func TestAPasswordThatNobodyCanTypeStartsNothing(t *testing.T) {
	for what, password := range map[string]string{"empty": "", "with a line break": "secret\n"} {
		file := filepath.Join(t.TempDir(), "password")
		require.NoError(t, os.WriteFile(file, []byte(password), 0o600))
		out, err := exec.Command("bash", StartFile, file, "echo", "started").CombinedOutput()
		assert.Error(t, err, what)
		assert.Contains(t, string(out), "make the Secret with printf", what)
	}
}

func TestTheServerHasThePasswordInNoVariable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("secret"), 0o600))
	for _, server := range (Server("")).Choices() {
		start := exec.Command("bash", StartFile, file, "bash", "-c", `tr '\0' '\n' </proc/$$/environ`)
		start.Env = append([]string{"PATH=" + os.Getenv("PATH")}, server.Programs().PasswordVariable+"=secret", "POD_NAME=kv-0")
		out, err := start.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "POD_NAME=kv-0")
		assert.NotContains(t, string(out), "secret", server)
	}
}

func (l *lab) ready(i int) bool {
	l.t.Helper()
	check := exec.Command("bash", ReadyFile, l.cli(i, ""))
	check.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
	return check.Run() == nil
}

// handover runs the script on node i and returns how long it took.
func (l *lab) handover(i int, seconds, before string) time.Duration {
	l.t.Helper()
	start := time.Now()
	script := exec.Command("bash", filepath.Join(l.pod(), HandoverFile), l.cli(i, before), seconds)
	script.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
	out, err := script.CombinedOutput()
	require.NoError(l.t, err, "it must never fail the stop: %s", out)
	assert.Empty(l.t, string(out))
	return time.Since(start)
}

func TestHandover(t *testing.T) {
	l := newLab(t, 6)
	for i := range l.hosts {
		require.Eventually(t, func() bool { return l.ready(i) }, 10*time.Second, 50*time.Millisecond, "a new node holds nothing up")
	}
	l.converge(Bootstrap)
	for i, host := range l.hosts {
		assert.True(t, l.ready(i), host)
	}

	assert.Less(t, l.handover(4, "30", ""), 2*time.Second, "a replica has nothing to hand over")
	assert.False(t, l.isPrimary(4))

	l.handover(1, "3", "")
	assert.True(t, l.isPrimary(1), "nothing is handed over to a replica that is about to stop")
	l.ask(1, "config", "set", "cluster-replica-no-failover", "no")
	l.ask(4, "config", "set", "cluster-replica-no-failover", "no")

	took := l.handover(0, "30", "")
	assert.False(t, l.isPrimary(0))
	assert.True(t, l.isPrimary(3))
	assert.Greater(t, took, 3*time.Second, "it goes on to answer so that clients learn")
	assert.Less(t, took, 10*time.Second)

	l.ask(0, "config", "set", "cluster-replica-no-failover", "no")
	once := filepath.Join(l.dir, "once")
	l.handover(3, "30", `[[ $1$2 != -erole || -e `+once+` ]] || { touch `+once+`; exit 1; }`)
	assert.False(t, l.isPrimary(3), "a server that is too busy to say its role still hands over")

	l.handover(1, "3", `[[ $* != *"cluster links"* ]] || exit 0`)
	assert.True(t, l.isPrimary(1), "nothing is handed over to a replica that no voter reaches")

	l.stop(5)
	took = l.handover(2, "3", "")
	assert.True(t, l.isPrimary(2))
	assert.Greater(t, took, 2*time.Second, "a replica may come back")
	assert.Less(t, took, 6*time.Second, "but not for ever")
	assert.False(t, l.ready(5))
}
