package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
)

// Bears reports whether a request has a token, after a time that does not depend on the token.
func Bears(r *http.Request, token string) bool {
	given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return isBearer && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// maxSecret bounds a token, in bytes.
const maxSecret = 4096

// ReadSecret returns the text of a file without the white space around it. A file that others
// than its owner can read or write is an error, because its text is no secret.
func ReadSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !private(info) {
		return "", &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("other users have access to this file (mode %#o): chmod 600 %s", info.Mode().Perm(), path)}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > maxSecret:
		return "", &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("a token has at most %d bytes", maxSecret)}
	}
	return strings.TrimSpace(string(b)), nil
}
