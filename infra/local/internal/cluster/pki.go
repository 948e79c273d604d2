//go:build linux

package cluster

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority signs what a cluster's programs prove themselves with. It stays with
// the cluster's state because kept pods hold its certificate; what it signs is
// made anew at each start.
type authority struct {
	cert *x509.Certificate
	pem  []byte
	key  crypto.Signer
}

// loadAuthority returns the authority kept in dir as ca.crt and ca.key, made at
// the first time.
func loadAuthority(dir string) (authority, error) {
	keyPEM, err := kept(filepath.Join(dir, "ca.key"), keyutil.MakeEllipticPrivateKeyPEM)
	if err != nil {
		return authority{}, fmt.Errorf("key of the cluster's authority: %w", err)
	}
	key, err := signer(keyPEM)
	if err != nil {
		return authority{}, fmt.Errorf("key of the cluster's authority: %w", err)
	}
	certPEM, err := kept(filepath.Join(dir, "ca.crt"), func() ([]byte, error) {
		ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kvinfra local cluster"}, key)
		if err != nil {
			return nil, err
		}
		return cert.EncodeCertificates(ca)
	})
	if err != nil {
		return authority{}, fmt.Errorf("certificate of the cluster's authority: %w", err)
	}
	certs, err := cert.ParseCertsPEM(certPEM)
	if err != nil {
		return authority{}, fmt.Errorf("certificate of the cluster's authority: %w", err)
	}
	return authority{cert: certs[0], pem: certPEM, key: key}, nil
}

// identity is what a certificate says.
type identity struct {
	name   string
	groups []string // organizations, which Kubernetes reads as groups
	usage  x509.ExtKeyUsage
	hosts  []string // names and addresses of a server
}

// issue returns a certificate for id and its key, both as PEM.
func (a authority) issue(id identity) (certPEM, keyPEM []byte, err error) {
	keyPEM, err = keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, nil, fmt.Errorf("key for %s: %w", id.name, err)
	}
	key, err := signer(keyPEM)
	if err != nil {
		return nil, nil, fmt.Errorf("key for %s: %w", id.name, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("certificate for %s: %w", id.name, err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: id.name, Organization: id.groups},
		NotBefore:    a.cert.NotBefore,
		NotAfter:     time.Now().AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{id.usage},
	}
	for _, host := range id.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate for %s: %w", id.name, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der}), keyPEM, nil
}

func signer(keyPEM []byte) (crypto.Signer, error) {
	key, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		return nil, err
	}
	s, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return s, nil
}
