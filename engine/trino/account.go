package trino

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/barograph/barograph/engine/launch"
)

// user is the lab's account.
const user = "barograph"

// Files of the coordinator with the accounts.
const (
	authenticator = "password-authenticator.properties"
	passwords     = "password.db"
)

// iterations is the number of iterations of the password's hash, the least that Trino accepts. The lab's
// passwords are 26 random letters and digits: nobody can guess them, also if the hash is fast.
const iterations = 1000

// writeAccount writes the coordinator's accounts, with the password's hash (PBKDF2 with HMAC-SHA-1, 64
// bytes, as Trino's file authenticator computes it).
func writeAccount(c *launch.Cluster, n *launch.Node) error {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return err
	}
	hash, err := pbkdf2.Key(sha1.New, c.Password, salt, iterations, 64)
	if err != nil {
		return err
	}
	file := filepath.Join(n.Dir, passwords)
	line := fmt.Sprintf("%s:%d:%s:%s\n", user, iterations, hex.EncodeToString(salt), hex.EncodeToString(hash))
	properties := "password-authenticator.name=file\nfile.password-file=" + file + "\n"
	return errors.Join(os.WriteFile(file, []byte(line), 0o600),
		os.WriteFile(filepath.Join(n.Dir, authenticator), []byte(properties), 0o600))
}

// sharedSecret returns the secret that all nodes have. Their port without TLS accepts requests only from
// nodes with it. Each node derives it from the password.
func sharedSecret(c *launch.Cluster) string {
	sum := sha256.Sum256([]byte("between the nodes of the cluster of " + c.Password))
	return hex.EncodeToString(sum[:])
}
