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
	"flag"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
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

// rootVariable names the file with the authority that cosign trusts in these tests.
const rootVariable = "TEST_TRUSTED_ROOT"

func TestMain(m *testing.M) {
	if path := os.Getenv(rootVariable); path != "" {
		if err := cosign(path, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cosign verifies as cosign 3 does, by the same library; its verify-blob takes more flags than
// these. The authority of these tests has no public log, so the time is that of the test.
// See VerificationOptions in pkg/cosign/verify.go of sigstore/cosign.
func cosign(rootPath string, args []string) error {
	flags := flag.NewFlagSet("verify-blob", flag.ContinueOnError)
	bundlePath := flags.String("bundle", "", "")
	identity := flags.String("certificate-identity", "", "")
	issuer := flags.String("certificate-oidc-issuer", "", "")
	if len(args) == 0 || args[0] != flags.Name() {
		return fmt.Errorf("command %q", args)
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	artifact, err := os.Open(flags.Arg(0))
	if err != nil {
		return err
	}
	defer artifact.Close()
	signed, err := bundle.LoadJSONFromPath(*bundlePath)
	if err != nil {
		return err
	}
	trusted, err := root.NewTrustedRootFromPath(rootPath)
	if err != nil {
		return err
	}
	verifier, err := verify.NewVerifier(trusted, verify.WithCurrentTime())
	if err != nil {
		return err
	}
	wanted, err := verify.NewShortCertificateIdentity(*issuer, "", *identity, "")
	if err != nil {
		return err
	}
	_, err = verifier.Verify(signed, verify.NewPolicy(verify.WithArtifact(artifact), verify.WithCertificateIdentity(wanted)))
	return err
}

// hasCosign adds cosign to a machine: the real one if it is installed, otherwise this test.
func (m *machine) hasCosign(t *testing.T, trusted *authority) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "root.json")
	if err := os.WriteFile(path, trusted.root(), 0o600); err != nil {
		t.Fatal(err)
	}
	if installed, err := exec.LookPath("cosign"); err == nil {
		m.program(t, "cosign", fmt.Sprintf("exec '%s' \"$@\" --trusted-root '%s' --insecure-ignore-tlog --insecure-ignore-sct\n", installed, path))
		return
	}
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m.program(t, "cosign", fmt.Sprintf("%s='%s' exec '%s' \"$@\"\n", rootVariable, path, test))
}
