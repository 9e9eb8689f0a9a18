package question

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestHostileYAML: a text that requests too much memory is refused before anything is allocated.
func TestHostileYAML(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	question := "name: x\nline_type: SL1L2\ncolumns: [fbar]\n"
	var values []string
	for i := range 60 {
		values = append(values, fmt.Sprint("v", i))
	}
	list := strings.Join(values, ", ")
	for name, c := range map[string]struct{ text, says string }{
		"aliases":      {bomb, "aliases"},
		"a merge":      {"a: &a {b: c}\nd: {<<: *a}\n", "aliases"},
		"brackets":     {strings.Repeat("[", 200_000), "brackets"},
		"braces":       {"x: " + strings.Repeat("{a: ", 60_000), "brackets"},
		"dashes":       {strings.Repeat("- ", 120_000), "lists"},
		"keys of keys": {strings.Repeat("? ", 120_000), "lists"},
		"length":       {"title: " + strings.Repeat("x", 1<<20), "256 KiB"},
		"indents":      {deep(700), ""},
		"leads":        {question + "fcst_lead: ['0-2000000000/1']\n", "not a lead"},
		"many leads":   {question + "fcst_lead: ['0-500000/1']\n", "100,000 leads"},
		"a bare tag":   {"init_hour: !00\n", "not a question"},
		"far before":   {question + "fcst_lead: ['-9223372036854775807-5/1']\n", "not a lead"},
		"wraps":        {question + "fcst_lead: ['-1000000-0/1000000']\n", "not a lead"},
		"not an hour":  {question + "fcst_lead: ['0-48/6.5']\n", "not a lead"},
		"long lead":    {question + "fcst_lead: ['600000']\n", "not a lead"},
		"many curves":  {question + "plot_ci: std\nseries: {model: [" + list + "], vx_mask: [" + list + "], fcst_lev: [" + list + "]}\n", "series has more than 65536 curves"},
		"times":        {question + "fcst_valid_beg: {first: '0001-01-01', last: '9999-12-31', step: 1s}\n", "1000000 times"},
		"init times":   {question + "fcst_init_beg: {first: '0001-01-01', last: '9999-12-31', step: 1s}\n", "1000000 times"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "q.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Find(file)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 2000 {
				t.Errorf("error %.200v, want one of %s", err, c.says)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
				t.Errorf("%d MB were allocated", took>>20)
			}
		})
	}
}

// TestLimitOfCurves: the limit is that of the product of all statistics and values, in YAML and in a plot_spec.
func TestLimitOfCurves(t *testing.T) {
	values := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("v", i))
		}
		return all
	}
	for _, c := range []struct {
		models, masks int
		stats         []string
		isAccepted    bool
	}{
		{256, 256, []string{"RMSE"}, true},
		{256, 257, []string{"RMSE"}, false},
		{256, 128, []string{"RMSE", "ME"}, true},
		{256, 129, []string{"RMSE", "ME"}, false},
	} {
		models, masks := values(c.models), values(c.masks)
		_, err := parsed("stat: [" + strings.Join(c.stats, ", ") + "]\nseries: {model: [" + strings.Join(models, ", ") + "], vx_mask: [" + strings.Join(masks, ", ") + "]}")
		if (err == nil) != c.isAccepted || err != nil && !strings.Contains(err.Error(), "series has more than 65536 curves") {
			t.Errorf("%+v: %v", c, err)
		}
		qs, notes := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>`+strings.Join(c.stats, "</stat><stat>")+`</stat></fcst_var></dep1></dep>`+byLead+
			`<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat><series1><field name="model"><val>`+strings.Join(models, "</val><val>")+
			`</val></field><field name="vx_mask"><val>`+strings.Join(masks, "</val><val>")+`</val></field></series1>
			<tmpl><listDiffSeries1>list(c("v0 v0 TMP RMSE","v1 v1 TMP RMSE"))</listDiffSeries1></tmpl>`)
		if (len(qs) == 1) != c.isAccepted || !c.isAccepted && !strings.Contains(strings.Join(notes, "\n"), "more than 65536 curves") {
			t.Errorf("%+v: %d questions, %.300q", c, len(qs), notes)
		}
	}
	d := &Drawing{Stats: []string{"RMSE"}, Curves: slices.Repeat([]Group{{"model", make([][]string, 1<<16)}}, 5)}
	if n := d.numCurves(); n != maxCurves+1 { // 2^80 is 0 in an int
		t.Errorf("%d curves", n)
	}
}

func deep(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", min(i, 250)) + "a:\n")
	}
	return b.String()
}
