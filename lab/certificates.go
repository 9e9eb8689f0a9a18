package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/barograph/barograph/engine/launch"
)

// CA signs certificates of servers and clients, for as long as this process keeps it.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	text []byte
}

// NewCA returns a new CA, with a certificate that it signed itself.
func NewCA(until time.Time) (*CA, error) {
	ca := &CA{} // without a certificate, Issue makes one that is signed by its own key
	text, key, err := ca.Issue("Barograph's lab", nil, until)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	return &CA{cert, key, text}, err
}

// PEM returns the CA's own certificate.
func (ca *CA) PEM() []byte { return ca.text }

// Issue signs a certificate for the addresses of hosts. It returns the certificate in PEM, and its key.
func (ca *CA) Issue(name string, hosts []string, until time.Time) ([]byte, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: until.Add(-certificateLife - 24*time.Hour), NotAfter: until,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true, IsCA: ca.cert == nil,
	}
	for _, h := range hosts {
		c.IPAddresses = append(c.IPAddresses, net.ParseIP(h))
	}
	parent, signer := c, key
	if ca.cert != nil {
		parent, signer, c.KeyUsage = ca.cert, ca.key, x509.KeyUsageDigitalSignature
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key, err
}

// KeyPEM encodes a key in PKCS #8 and PEM, which OpenSSL and Java read.
func KeyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

// certificateLife is the validity of a lab's certificates.
const certificateLife = 365 * 24 * time.Hour

// writeCertificates writes a certificate for each node. It names all nodes, because a client may be redirected from one
// to another. Nobody can sign another certificate for this lab, because the CA's key is not stored.
func (a *account) writeCertificates(c *launch.Cluster) error {
	until := time.Now().Add(certificateLife)
	ca, err := NewCA(until)
	if err != nil {
		return err
	}
	var hosts []string
	for i := range c.Nodes {
		hosts = append(hosts, c.Nodes[i].Host)
	}
	for i := range c.Nodes {
		file := c.Nodes[i].Certificate()
		err = errors.Join(err, ca.Write(file, hosts, until), a.own(file))
	}
	return errors.Join(err, os.WriteFile(c.CA(), ca.PEM(), 0o644)) //nolint:gosec // every client needs it
}

// Write issues a certificate for the addresses of hosts, and writes it with its key into a file.
func (ca *CA) Write(file string, hosts []string, until time.Time) error {
	cert, key, err := ca.Issue("barograph", hosts, until)
	if err != nil {
		return err
	}
	private, err := KeyPEM(key)
	return errors.Join(err, os.WriteFile(file, append(cert, private...), 0o600))
}
