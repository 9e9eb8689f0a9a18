package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/barograph/barograph/fault"
)

// longestName leaves room for an ending within the 255 bytes of file systems.
const longestName = 200

// FileName makes the name of a file, without its ending, from names that
// anybody may have chosen: of questions, engines, designs, subsets. As many other
// names make different file names, of letters, digits, blanks and _ - + = , . ~ @ (the
// rest as %2F, in further parts the point too), and none leads out of its folder.
func FileName(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		e := strings.ReplaceAll(url.QueryEscape(p), "+", " ")
		for _, c := range "+=,@" {
			e = strings.ReplaceAll(e, url.QueryEscape(string(c)), string(c))
		}
		if i > 0 || strings.HasPrefix(e, ".") { // a point parts them, and hides what it begins
			e = strings.ReplaceAll(e, ".", "%2E")
		}
		escaped[i] = cmp.Or(e, "%")
	}
	name := strings.Join(escaped, ".")
	if len(name) > longestName {
		whole := fnv.New128a()
		whole.Write([]byte(name))
		name = fmt.Sprintf("%s~%x", name[:longestName-33], whole.Sum(nil))
	}
	return name
}

// write writes a file of a folder whole or not at all, and never outside.
func write(dir, name string, text []byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return root.Rename(name+".new", name)
}

// writeJSON writes a document in which no text holds a secret.
func writeJSON(dir, name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return write(dir, name, append(jsonString.ReplaceAllFunc(text, redact), '\n'))
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// redact takes the secrets out of a JSON string.
func redact(quoted []byte) []byte {
	var s string
	if json.Unmarshal(quoted, &s) == nil && fault.Redact(s) != s {
		if text, err := json.Marshal(fault.Redact(s)); err == nil {
			return text
		}
	}
	return quoted
}
