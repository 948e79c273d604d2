//go:build linux

package cluster

import (
	"crypto/x509"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
)

// servers returns the certificates that a cluster's files name, by file name.
func servers() map[string]identity {
	return map[string]identity{
		"apiserver": {name: "kube-apiserver", usage: x509.ExtKeyUsageServerAuth, hosts: []string{
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
			"localhost", "127.0.0.1", nodeAddress, apiService,
		}},
		"kubelet": {name: nodeName, usage: x509.ExtKeyUsageServerAuth, hosts: []string{nodeName, nodeAddress}},
		// What the API server shows to the kubelet, and to API servers behind it.
		"apiserver-client": {name: "kube-apiserver", groups: []string{"system:masters"}, usage: x509.ExtKeyUsageClientAuth},
		"front-proxy":      {name: "front-proxy", usage: x509.ExtKeyUsageClientAuth},
	}
}

// clients returns who gets a kubeconfig, by file name.
func clients() map[string]identity {
	users := map[string]identity{
		"admin":              {name: "admin", groups: []string{"system:masters"}},
		"controller-manager": {name: "system:kube-controller-manager"},
		"scheduler":          {name: "system:kube-scheduler"},
		"kubelet":            {name: "system:node:" + nodeName, groups: []string{"system:nodes"}},
		"kube-proxy":         {name: "system:kube-proxy"},
		"kube-router":        {name: "kube-router"},
	}
	for file, user := range users {
		user.usage = x509.ExtKeyUsageClientAuth
		users[file] = user
	}
	return users
}

// writeCredentials fills dir with the certificates, keys and kubeconfigs of a
// cluster whose API server its programs reach at server.
func writeCredentials(dir, server string) (authority, error) {
	ca, err := loadAuthority(dir)
	if err != nil {
		return authority{}, err
	}
	if _, err := kept(filepath.Join(dir, "service-accounts.key"), keyutil.MakeEllipticPrivateKeyPEM); err != nil {
		return authority{}, err
	}
	for file, id := range servers() {
		certPEM, keyPEM, err := ca.issue(id)
		if err != nil {
			return authority{}, err
		}
		if err := writeFile(filepath.Join(dir, file+".crt"), certPEM); err != nil {
			return authority{}, err
		}
		if err := writeFile(filepath.Join(dir, file+".key"), keyPEM); err != nil {
			return authority{}, err
		}
	}
	for file, user := range clients() {
		if err := ca.writeKubeconfig(filepath.Join(dir, file+".kubeconfig"), server, user); err != nil {
			return authority{}, err
		}
	}
	return ca, nil
}

// writeKubeconfig writes a kubeconfig whose only context is "local".
func (a authority) writeKubeconfig(path, server string, user identity) error {
	certPEM, keyPEM, err := a.issue(user)
	if err != nil {
		return err
	}
	const context = "local"
	content, err := clientcmd.Write(api.Config{
		Clusters:       map[string]*api.Cluster{context: {Server: server, CertificateAuthorityData: a.pem}},
		AuthInfos:      map[string]*api.AuthInfo{user.name: {ClientCertificateData: certPEM, ClientKeyData: keyPEM}},
		Contexts:       map[string]*api.Context{context: {Cluster: context, AuthInfo: user.name}},
		CurrentContext: context,
	})
	if err != nil {
		return err
	}
	return writeFile(path, content)
}
