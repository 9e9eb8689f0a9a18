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

// MaxBytes is the maximum size of the page. If it would be larger, queries and plans are cut.
const MaxBytes = 2_000_000

// planMark separates a query from its plan, as in the files of plans/.
const planMark = "\n\n-- plan\n"

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

// Page returns the page. It cuts long queries and plans such that the page is smaller than MaxBytes; TextSize is the
// remaining size of each.
func (s *Site) Page() ([]byte, error) {
	var out []byte
	for _, s.TextSize = range []int{32768, 8192, 4096, 2048, 1024, 512, 256, 0} {
		page, err := s.page()
		if err != nil || len(page) < MaxBytes {
			return page, err
		}
		out = page
	}
	return out, nil
}

func (s *Site) page() ([]byte, error) {
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
	page.Style, page.Code, page.Data = template.CSS(style), template.JS(code), template.JS(data) //nolint:gosec // our own files, and escaped data
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
	err = errors.Join(err, z.Close(), base.Close()) // before String, because they write the end
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
	query, plan, ok := strings.Cut(text, planMark)
	if ok {
		return cut(query) + planMark + cut(plan)
	}
	return cut(query)
}
