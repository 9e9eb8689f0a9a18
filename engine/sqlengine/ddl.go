package sqlengine

import "strings"

// Create writes CREATE TABLE IF NOT EXISTS. The name is quoted already;
// typeName gives the engine's type of a column.
func Create(name string, cols []Column, typeName func(Column) string) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE IF NOT EXISTS " + name + " (")
	for i, c := range cols {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  " + c.Name + " " + typeName(c))
		if c.Primary {
			b.WriteString(" PRIMARY KEY")
		}
		if c.NotNull || c.Primary {
			b.WriteString(" NOT NULL")
		}
	}
	b.WriteString("\n)")
	return b.String()
}

// Insert writes INSERT INTO name (columns) VALUES for that many rows, with
// question marks as placeholders.
func Insert(name string, cols []Column, rows int) string {
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(cols)), ", ") + ")"
	return "INSERT INTO " + name + " (" + Names("", cols) + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(one+", ", rows), ", ")
}

// Names lists the columns, each behind a prefix such as "ld.".
func Names(prefix string, cols []Column) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = prefix + c.Name
	}
	return strings.Join(names, ", ")
}
