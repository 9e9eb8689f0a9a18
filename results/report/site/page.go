package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

//go:embed template
var files embed.FS

// FileName is the name of the page.
const FileName = "index.html"

// MaxBytes is the size that Page stays below by cutting queries and plans. Page cuts nothing else, so a page whose
// other content is too large exceeds it.
const MaxBytes = 2_000_000

// planSeparator separates a query from its plan, as in the files of plans/.
const planSeparator = "\n\n-- plan\n"

// Write writes the page into a folder, which it creates, and returns its path.
func (s *Site) Write(dir string) (path string, err error) {
	page, err := s.Page()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(dir, FileName)
	if old, err := os.ReadFile(path); err == nil && !bytes.Contains(old, []byte("<title>Barograph ")) {
		return "", &fault.Error{File: path, Problem: "is a page of another program", Cure: "name another folder"}
	}
	if err := os.WriteFile(path+".new", page, 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// Page returns the page with each query and each plan cut to TextSize bytes. It sets TextSize to the first of its steps
// with which the page is smaller than MaxBytes, or to 0.
func (s *Site) Page() ([]byte, error) {
	var out []byte
	for _, s.TextSize = range []int{32768, 8192, 4096, 2048, 1024, 512, 256, 0} {
		page, err := s.render()
		if err != nil || len(page) < MaxBytes {
			return page, err
		}
		out = page
	}
	return out, nil
}

// render returns the page with texts of at most TextSize bytes.
func (s *Site) render() ([]byte, error) {
	var page struct {
		Style      template.CSS
		Code       template.JS
		CodeDigest string
		Data       template.JS
		Texts      template.HTML
	}
	style, err := files.ReadFile("template/site.css")
	if err != nil {
		return nil, err
	}
	code, err := files.ReadFile("template/site.js")
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(s) // escapes <, > and &
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(code)
	//nolint:gosec // our own files, and escaped data
	page.Style, page.Code, page.Data = template.CSS(style), template.JS(code), template.JS(data)
	page.CodeDigest = base64.StdEncoding.EncodeToString(sum[:])
	texts, err := s.packTexts()
	if err != nil {
		return nil, err
	}
	page.Texts = template.HTML(texts) //nolint:gosec // base64
	t, err := template.ParseFS(files, "template/site.html")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, page)
	return b.Bytes(), err
}

// packTexts returns the texts as a compressed JSON list, in base64.
func (s *Site) packTexts() (string, error) {
	all := lists.Map(s.texts, func(text string) string { return shorten(text, s.TextSize) })
	var b strings.Builder
	base := base64.NewEncoder(base64.StdEncoding, &b)
	z, err := gzip.NewWriterLevel(base, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	err = json.NewEncoder(z).Encode(all)
	err = errors.Join(err, z.Close(), base.Close()) // Close writes the last bytes
	return b.String(), err
}

// shorten cuts a query and its plan to a number of bytes each.
func shorten(text string, size int) string {
	cut := func(part string) string {
		if len(part) <= size {
			return part
		}
		return fmt.Sprintf("%s\n… (%d bytes in the run folder)", strings.ToValidUTF8(part[:size], ""), len(part))
	}
	query, plan, ok := strings.Cut(text, planSeparator)
	if ok {
		return cut(query) + planSeparator + cut(plan)
	}
	return cut(query)
}
