//go:build linux

package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
)

func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	_, err := writeCredentials(dir, "https://127.0.0.1:6443")
	require.NoError(t, err)
	roots, err := cert.NewPool(filepath.Join(dir, "ca.crt"))
	require.NoError(t, err)

	for _, host := range []string{
		"127.0.0.1", "localhost", nodeAddress, apiService,
		"kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	} {
		t.Run("the API server is itself as "+host, func(t *testing.T) {
			verify(t, filepath.Join(dir, "apiserver"), x509.VerifyOptions{Roots: roots, DNSName: host})
		})
	}
	t.Run("the kubelet is itself at the node's address", func(t *testing.T) {
		verify(t, filepath.Join(dir, "kubelet"), x509.VerifyOptions{Roots: roots, DNSName: nodeAddress})
	})
	t.Run("a server's certificate does not make a client", func(t *testing.T) {
		_, err := load(t, filepath.Join(dir, "apiserver")).Verify(x509.VerifyOptions{
			Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		assert.Error(t, err)
	})
	users := map[string]struct {
		name   string
		groups []string
	}{
		"admin":              {"admin", []string{"system:masters"}},
		"kubelet":            {"system:node:local", []string{"system:nodes"}},
		"scheduler":          {"system:kube-scheduler", nil},
		"controller-manager": {"system:kube-controller-manager", nil},
		"kube-proxy":         {"system:kube-proxy", nil},
		"kube-router":        {"kube-router", nil},
	}
	for file, want := range users {
		t.Run("the kubeconfig of "+file+" says who it is", func(t *testing.T) {
			path := filepath.Join(dir, file+".kubeconfig")
			config, err := clientcmd.BuildConfigFromFlags("", path)
			require.NoError(t, err)
			assert.Equal(t, "https://127.0.0.1:6443", config.Host)
			pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
			require.NoError(t, err)
			_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
			require.NoError(t, err)
			assert.Equal(t, want.name, pair.Leaf.Subject.CommonName)
			assert.Equal(t, want.groups, pair.Leaf.Subject.Organization)
		})
	}
	t.Run("only the owner reads keys and kubeconfigs", func(t *testing.T) {
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, file := range files {
			info, err := file.Info()
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode(), file.Name())
		}
	})
	t.Run("the authority and the key of service accounts stay, all else is new", func(t *testing.T) {
		read := func(name string) string {
			content, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			return string(content)
		}
		before := map[string]string{}
		for _, name := range []string{"ca.crt", "ca.key", "service-accounts.key", "apiserver.crt"} {
			before[name] = read(name)
		}
		_, err := writeCredentials(dir, "https://127.0.0.1:6443")
		require.NoError(t, err)
		assert.Equal(t, before["ca.crt"], read("ca.crt"))
		assert.Equal(t, before["ca.key"], read("ca.key"))
		assert.Equal(t, before["service-accounts.key"], read("service-accounts.key"))
		assert.NotEqual(t, before["apiserver.crt"], read("apiserver.crt"))
	})
}

func TestKubeconfigHasTheContextLocal(t *testing.T) {
	ca, err := loadAuthority(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, ca.writeKubeconfig(path, "https://127.0.0.1:26443", clients()["admin"]))
	config, err := clientcmd.LoadFromFile(path)
	require.NoError(t, err)
	assert.Equal(t, "local", config.CurrentContext)
	assert.Len(t, config.Contexts, 1)
	assert.Equal(t, "https://127.0.0.1:26443", config.Clusters[config.Contexts["local"].Cluster].Server)
}

func verify(t *testing.T, path string, options x509.VerifyOptions) {
	t.Helper()
	leaf := load(t, path)
	_, err := leaf.Verify(options)
	require.NoError(t, err)
	assert.True(t, leaf.NotAfter.After(time.Now().AddDate(0, 11, 0)))
}

// load returns the certificate at path.crt, and checks that its key is path.key.
func load(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(path+".crt", path+".key")
	require.NoError(t, err)
	return pair.Leaf
}
