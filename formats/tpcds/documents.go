package tpcds

import (
	"bufio"
	"encoding/json"
	"os"
)

// TableName is the field that tells of which table a document is a row.
const TableName = "table_name"

// AppendDocument appends row i as a line of JSON: the table's name, then every
// column that is not NULL. Decimals are numbers, dates are ISO strings.
func (r *Rows) AppendDocument(to []byte, table string, i int) []byte {
	to = append(to, `{"`+TableName+`":"`...)
	to = append(append(to, table...), '"')
	for k := range r.Columns {
		v := &r.Columns[k]
		if v.Null[i] {
			continue
		}
		to = append(append(append(to, `,"`...), v.Name...), `":`...)
		switch v.Kind {
		case Char, Varchar:
			to = appendString(to, v.Text[i])
		case Date:
			to = append(v.Append(append(to, '"'), i), '"')
		default:
			to = v.Append(to, i)
		}
	}
	return append(to, '}', '\n')
}

// appendString appends a JSON string.
func appendString(to, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(string(text))
			if err != nil { // a string always marshals
				panic(err)
			}
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}

// WriteDocuments writes the rows of a Parquet file of a table as documents.
func WriteDocuments(path, table, parquet string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for rows, err := range Read(parquet, table) {
		if err != nil {
			return err
		}
		for i := range rows.N {
			line = rows.AppendDocument(line[:0], table, i)
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}
