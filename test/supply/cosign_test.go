package supply

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// An authority issues certificates to identities, as Sigstore's Fulcio does.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{Organization: []string{"test"}, CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate, a.key = a.issue(template)
	return a
}

// issue returns a new certificate and its key; the first certificate signs itself.
func (a *authority) issue(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, signer := template, key
	if a.certificate != nil {
		parent, signer = a.certificate, a.key
	}
	b, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	c, err := x509.ParseCertificate(b)
	if err != nil {
		a.t.Fatal(err)
	}
	return c, key
}

// issuerExtension is the extension of a certificate that names the issuer of the token with
// which the identity was proved. See docs/oid-info.md of sigstore/fulcio.
var issuerExtension = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}

// sign returns a bundle of Sigstore with the signature of checksums by an identity.
func (a *authority) sign(checksums []byte, identity, issuer string) []byte {
	a.t.Helper()
	name, err := url.Parse(identity)
	if err != nil {
		a.t.Fatal(err)
	}
	value, err := asn1.MarshalWithParams(issuer, "utf8")
	if err != nil {
		a.t.Fatal(err)
	}
	certificate, key := a.issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(10 * time.Minute), URIs: []*url.URL{name},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{{Id: issuerExtension, Value: value}},
	})
	digest := sha256.Sum256(checksums)
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		a.t.Fatal(err)
	}
	return a.json(map[string]any{
		"mediaType":            "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": map[string]any{"certificate": map[string]any{"rawBytes": certificate.Raw}},
		"messageSignature":     map[string]any{"messageDigest": map[string]any{"algorithm": "SHA2_256", "digest": digest[:]}, "signature": signature},
	})
}

// root returns the file that names the authority as one to trust.
func (a *authority) root() []byte {
	return a.json(map[string]any{
		"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
		"certificateAuthorities": []any{map[string]any{
			"subject": map[string]any{"organization": "test", "commonName": "authority"}, "uri": "https://fulcio.example.com",
			"certChain": map[string]any{"certificates": []any{map[string]any{"rawBytes": a.certificate.Raw}}},
			"validFor":  map[string]any{"start": a.certificate.NotBefore},
		}},
	})
}

func (a *authority) json(v any) []byte {
	a.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		a.t.Fatal(err)
	}
	return b
}

// TestCosign has cosign itself verify releases. It trusts an authority of this test in place
// of Sigstore's, which has no public log.
func TestCosign(t *testing.T) {
	cosign, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("cosign is not installed")
	}
	trusted, foreign := newAuthority(t), newAuthority(t)
	path := filepath.Join(t.TempDir(), "root.json")
	if err := os.WriteFile(path, trusted.root(), 0o600); err != nil {
		t.Fatal(err)
	}
	forged := damage{"signed with a certificate of another authority", func(_ *testing.T, r release, _ signer) {
		r["checksums.txt.sigstore.json"] = foreign.sign(r["checksums.txt"], identity, issuer)
	}, "could not verify"}
	for _, d := range append(damages, forged) {
		t.Run(d.name, func(t *testing.T) {
			m, r := newMachine(t), newRelease(t, trusted.sign)
			m.program(t, "cosign", fmt.Sprintf("exec '%s' \"$@\" --trusted-root '%s' --insecure-ignore-tlog --insecure-ignore-sct\n", cosign, path))
			d.change(t, r, trusted.sign)
			m.installs(t, r, d.why)
		})
	}
}
