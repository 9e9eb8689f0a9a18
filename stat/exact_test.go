package stat

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
	"strings"
	"testing"
)

// exact are formulas of the statistics over means with the pairs as weights,
// written by hand apart from the table; n is the number of pairs.
var exact = map[string]string{
	"SL1L2": `
		FBAR fbar; OBAR obar; ME fbar-obar; ME2 (fbar-obar)*(fbar-obar); MSE ffbar+oobar-2*fobar; RMSE sqrt(ffbar+oobar-2*fobar); MAE mae; MBIAS fbar/obar
		FE (fbar-obar)/fbar; BCMSE ffbar+oobar-2*fobar-(fbar-obar)*(fbar-obar); BCRMSE sqrt(ffbar+oobar-2*fobar-(fbar-obar)*(fbar-obar))
		SI sqrt(ffbar+oobar-2*fobar)/obar; FSTDEV sqrt((ffbar-fbar*fbar)*n/(n-1)); OSTDEV sqrt((oobar-obar*obar)*n/(n-1))
		ESTDEV sqrt((ffbar+oobar-2*fobar-(fbar-obar)*(fbar-obar))*n/(n-1)); MSESS 1-(ffbar+oobar-2*fobar)/((oobar-obar*obar)*n/(n-1))
		PR_CORR (fobar-fbar*obar)/sqrt((ffbar-fbar*fbar)*(oobar-obar*obar)); TOTAL n`,
	"SSVAR": `
		FBAR fbar; OBAR obar; ME fbar-obar; ME2 (fbar-obar)*(fbar-obar); MSE ffbar+oobar-2*fobar; RMSE sqrt(ffbar+oobar-2*fobar); MBIAS fbar/obar
		BCMSE ffbar+oobar-2*fobar-(fbar-obar)*(fbar-obar); BCRMSE sqrt(ffbar+oobar-2*fobar-(fbar-obar)*(fbar-obar)); FSTDEV sqrt((ffbar-fbar*fbar)*n/(n-1))
		OSTDEV sqrt((oobar-obar*obar)*n/(n-1)); ESTDEV sqrt((ffbar+oobar-2*fobar-(fbar-obar)*(fbar-obar))*n/(n-1)); SPREAD sqrt(var_mean); TOTAL all
		MSESS 1-(ffbar+oobar-2*fobar)/((oobar-obar*obar)*n/(n-1)); PR_CORR (fobar-fbar*obar)/sqrt((ffbar-fbar*fbar)*(oobar-obar*obar))
		ANOM_CORR (fobar-fbar*obar)/sqrt((ffbar-fbar*fbar)*(oobar-obar*obar))`,
	"SAL1L2": `
		ANOM_CORR (foabar-fabar*oabar)/sqrt((ffabar-fabar*fabar)*(ooabar-oabar*oabar)); ANOM_CORR_UNCNTR foabar/sqrt(ffabar*ooabar); RMSFA sqrt(ffabar); RMSOA sqrt(ooabar); TOTAL n`,
	"GRAD": "FGBAR fgbar; OGBAR ogbar; MGBAR mgbar; EGBAR egbar; S1 100*egbar/mgbar; S1_OG 100*egbar/ogbar; FGOG_RATIO 100*fgbar/ogbar; TOTAL n",
	"VL1L2": `
		UFBAR ufbar; VFBAR vfbar; UOBAR uobar; VOBAR vobar; BIAS sqrt(uvffbar)-sqrt(uvoobar); FVAR uvffbar-f_speed_bar*f_speed_bar; OVAR uvoobar-o_speed_bar*o_speed_bar
		SPEED_ERR sqrt(ufbar*ufbar+vfbar*vfbar)-sqrt(uobar*uobar+vobar*vobar); MSVE uvffbar-2*uvfobar+uvoobar; RMSVE sqrt(uvffbar-2*uvfobar+uvoobar); TOTAL n
		FBAR f_speed_bar; OBAR o_speed_bar; FS_RMS sqrt(uvffbar); OS_RMS sqrt(uvoobar); FSTDEV sqrt(uvffbar-f_speed_bar*f_speed_bar); OSTDEV sqrt(uvoobar-o_speed_bar*o_speed_bar)
		FDIR mod360(atan2(0-ufbar, 0-vfbar)); ODIR mod360(atan2(0-uobar, 0-vobar)); FBAR_SPEED sqrt(ufbar*ufbar+vfbar*vfbar); OBAR_SPEED sqrt(uobar*uobar+vobar*vobar)
		FSPD sqrt(ufbar*ufbar+vfbar*vfbar); OSPD sqrt(uobar*uobar+vobar*vobar)
		VDIFF_SPEED sqrt((ufbar-uobar)*(ufbar-uobar)+(vfbar-vobar)*(vfbar-vobar)); VDIFF_DIR mod360(atan2(uobar-ufbar, vobar-vfbar))
		SPEED_ABSERR abs(sqrt(ufbar*ufbar+vfbar*vfbar)-sqrt(uobar*uobar+vobar*vobar)); DIR_ERR atan2(vfbar*uobar-ufbar*vobar, ufbar*uobar+vfbar*vobar)
		DIR_ABSERR abs(atan2(vfbar*uobar-ufbar*vobar, ufbar*uobar+vfbar*vobar))`,
	"VAL1L2": `
		ANOM_CORR (uvfoabar-ufabar*uoabar-vfabar*voabar)/(sqrt(uvffabar-ufabar*ufabar-vfabar*vfabar)*sqrt(uvooabar-uoabar*uoabar-voabar*voabar)); TOTAL n
		VCNT_ANOM_CORR (uvfoabar-fa_speed_bar*oa_speed_bar)/sqrt((uvffabar-fa_speed_bar*fa_speed_bar)*(uvooabar-oa_speed_bar*oa_speed_bar))
		VCNT_ANOM_CORR_UNCNTR uvfoabar/sqrt(uvffabar*uvooabar)`,
	"CTC": table2x2 + `; LODDS log(a*d/(b*c)); ORSS (a*d-b*c)/(a*d+b*c); EDS 2*log((a+c)/n)/log(a/n)-1; SEDS (log((a+b)/n)+log((a+c)/n))/log(a/n)-1
		EDI (log(b/(b+d))-log(a/(a+c)))/(log(b/(b+d))+log(a/(a+c))); HSS_EC (a+d-n/2)/(n/2)
		SEDI (log(b/(b+d))-log(a/(a+c))-log(d/(b+d))+log(c/(a+c)))/(log(b/(b+d))+log(a/(a+c))+log(d/(b+d))+log(c/(a+c)))
		FY_OY a; FY_ON b; FN_OY c; FN_ON d; OY a+c; ON b+d; FY a+b; FN c+d`,
	"NBRCTC": table2x2,
	"NBRCNT": "FBS fbs; FSS 1-fbs/climate; F_RATE f_rate; O_RATE o_rate; AFSS 2*f_rate*o_rate/(f_rate*f_rate+o_rate*o_rate); UFSS 1/2+o_rate/2; TOTAL n",
	"RPS":    "RPS rps; RPSS 1-rps/climate; COMP rps_comp; TOTAL n",
	"ECNT": `
		CRPS crps; CRPSCL crpscl; CRPSS 1-crps/crpscl; CRPS_EMP crps_emp; CRPSCL_EMP crpscl_emp; CRPSS_EMP 1-crps_emp/crpscl_emp; CRPS_EMP_FAIR crps_emp_fair; IGN ign
		SPREAD_MD spread_md; ME me; MAE mae; ME_OERR me_oerr; MAE_OERR mae_oerr; RMSE sqrt(rmse2); SPREAD sqrt(spread2); RMSE_OERR sqrt(rmse_oerr2); SPREAD_OERR sqrt(spread_oerr2)
		SPREAD_PLUS_OERR sqrt(spread_plus_oerr2); N_GE_OBS ge; N_LT_OBS lt; ME_GE_OBS me_ge_obs; ME_LT_OBS me_lt_obs; BIAS_RATIO me_ge_obs/abs(me_lt_obs); TOTAL n`,
	"PCT": `
		BASER p; RELIABILITY rel; RESOLUTION res; UNCERTAINTY p*(1-p); BRIER rel-res+p*(1-p); BSS_SMPL (res-rel)/(p*(1-p)); TOTAL n`,
	"MCTC": "ACC hits/n; HK (hits/n-chance)/(1-squares); HSS (hits/n-chance)/(1-chance); HSS_EC hits/n; TOTAL n",
}

const table2x2 = `BASER (a+c)/n; FMEAN (a+b)/n; ACC (a+d)/n; FBIAS (a+b)/(a+c); PODY a/(a+c); PODN d/(b+d); POFD b/(b+d); FAR b/(a+b); CSI a/(a+b+c)
	GSS (a-(a+b)*(a+c)/n)/(a+b+c-(a+b)*(a+c)/n); HK a/(a+c)-b/(b+d); ODDS a*d/(b*c); TOTAL n
	HSS (a+d-((a+b)*(a+c)+(c+d)*(b+d))/n)/(n-((a+b)*(a+c)+(c+d)*(b+d))/n)`

// TestExact compares the statistics of the random records, and of a single one, with their formulas
// over exact sums: 400 bits, the weights multiplied and added without rounding.
func TestExact(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range readAnswers(t) {
		if a.Case != "random" && a.Case != "one" {
			continue
		}
		values := a.sums()
		lt := lineType(t, a.Type)
		cols := a.cols(lt)
		for formula := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(exact[a.Type]), "\n", ";"), ";") {
			name, text, _ := strings.Cut(strings.TrimSpace(formula), " ")
			e, err := parser.ParseExpr(text)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want, _ := eval(t, e, values).Float64()
			got, ok, err := Summarize(Overall, statOf(t, a.Type, name), lt, cols)
			if err != nil || !ok || math.Abs(got-want) > 1e-9*math.Abs(want) {
				t.Errorf("%s %s = %v, %v, %v; exactly %v", a.Type, name, got, ok, err, want)
			}
			seen[a.Type+" "+name] = true
		}
	}
	for _, s := range Table() {
		switch key := s.LineType + " " + s.Name; {
		case seen[key], strings.HasPrefix(s.Name, "DIR"): // of total_dir, see TestDirectionColumnsUseTheirOwnCount
		case key == "CTC BAGSS", key == "PCT ROC_AUC", key == "MCTC GER": // see their tests, and METcalcpy's
		default:
			t.Errorf("%s has no exact formula", key)
		}
	}
}

func number(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }

func zero() *big.Float { return number(0) }

// sums are the exact means and sums of a case by name.
func (a *answered) sums() map[string]*big.Float {
	at := map[string]int{}
	for k, name := range a.Columns {
		at[name] = k
	}
	sums, weights := map[string]*big.Float{}, map[string]*big.Float{}
	add := func(to map[string]*big.Float, name string, x *big.Float) {
		if to[name] == nil {
			to[name] = zero()
		}
		to[name].Add(to[name], x)
	}
	for _, row := range a.Rows {
		x := func(name string) *big.Float { return number(*row[at[name]]) }
		n := x("total")
		if a.Type == "SSVAR" {
			n = x("bin_n")
			add(sums, "all", x("total"))
		}
		add(sums, "n", n)
		for name := range at {
			w := n
			switch name {
			case "me_ge_obs":
				w = x("n_ge_obs")
			case "me_lt_obs":
				w = x("n_lt_obs")
			}
			wx := zero().Mul(w, x(name))
			add(sums, " "+name, wx)
			add(weights, name, w)
			add(sums, " "+name+"2", zero().Mul(wx, x(name)))
			add(weights, name+"2", w)
			if name == "fss" || name == "rpss" {
				r := zero().Mul(n, x(map[string]string{"fss": "fbs", "rpss": "rps"}[name]))
				add(sums, " climate", r.Quo(r, zero().Sub(number(1), x(name))))
				add(weights, "climate", n)
			}
		}
		for short, name := range map[string]string{"a": "fy_oy", "b": "fy_on", "c": "fn_oy", "d": "fn_on", "ge": "n_ge_obs", "lt": "n_lt_obs"} {
			if _, ok := at[name]; ok {
				add(sums, short, x(name))
			}
		}
		for name := range at {
			if strings.HasPrefix(name, "oy_i") || strings.HasPrefix(name, "on_i") || strings.HasPrefix(name, "fi_oj") {
				add(sums, name, x(name))
			}
		}
	}
	for name, w := range weights {
		sums[name] = zero().Quo(sums[" "+name], w)
	}
	a.tables(sums)
	return sums
}

// tables adds the sums that the formulas of PCT and MCTC use.
func (a *answered) tables(sums map[string]*big.Float) {
	n := sums["n"]
	if a.Type == "PCT" {
		yes := zero()
		for _, k := range "01234" {
			yes.Add(yes, a.raw("oy_i_"+string(k)))
		}
		p := zero().Quo(yes, n)
		sums["p"], sums["rel"], sums["res"] = p, zero(), zero()
		for i, k := range "01234" {
			y, all := a.raw("oy_i_"+string(k)), zero().Add(a.raw("oy_i_"+string(k)), a.raw("on_i_"+string(k)))
			if all.Sign() == 0 {
				continue
			}
			center := zero().Quo(zero().Add(number(edges[i]), number(edges[i+1])), number(2))
			o := zero().Quo(y, all)
			for to, from := range map[string]*big.Float{"rel": center, "res": p} {
				d := zero().Sub(o, from)
				sums[to].Add(sums[to], d.Quo(d.Mul(d.Mul(d, d), all), n))
			}
		}
	}
	if a.Type == "MCTC" {
		f, o := []*big.Float{zero(), zero(), zero()}, []*big.Float{zero(), zero(), zero()}
		sums["hits"], sums["chance"], sums["squares"] = zero(), zero(), zero()
		for k := range 9 {
			x := a.raw("fi_oj_" + string(rune('0'+k)))
			f[k/3].Add(f[k/3], x)
			o[k%3].Add(o[k%3], x)
			if k/3 == k%3 {
				sums["hits"].Add(sums["hits"], x)
			}
		}
		for i := range 3 {
			nn := zero().Mul(n, n)
			sums["chance"].Add(sums["chance"], zero().Quo(zero().Mul(f[i], o[i]), nn))
			sums["squares"].Add(sums["squares"], zero().Quo(zero().Mul(o[i], o[i]), nn))
		}
	}
}

// raw returns the sum of a column.
func (a *answered) raw(name string) *big.Float {
	sum := zero()
	for k, c := range a.Columns {
		for _, row := range a.Rows {
			if c == name {
				sum.Add(sum, number(*row[k]))
			}
		}
	}
	return sum
}

// eval computes a formula; logarithms and angles are rounded to float64.
func eval(t *testing.T, e ast.Expr, values map[string]*big.Float) *big.Float {
	switch e := e.(type) {
	case *ast.Ident:
		if v := values[e.Name]; v != nil {
			return v
		}
		t.Fatalf("no value %s", e.Name)
	case *ast.BasicLit:
		v, _ := zero().SetString(e.Value)
		return v
	case *ast.ParenExpr:
		return eval(t, e.X, values)
	case *ast.BinaryExpr:
		x, y := eval(t, e.X, values), eval(t, e.Y, values)
		switch e.Op {
		case token.ADD:
			return zero().Add(x, y)
		case token.SUB:
			return zero().Sub(x, y)
		case token.MUL:
			return zero().Mul(x, y)
		case token.QUO:
			return zero().Quo(x, y)
		}
	case *ast.CallExpr:
		x := eval(t, e.Args[0], values)
		f, _ := x.Float64()
		switch name := e.Fun.(*ast.Ident).Name; name {
		case "sqrt":
			return zero().Sqrt(x)
		case "abs":
			return zero().Abs(x)
		case "log":
			return number(math.Log(f))
		case "mod360":
			return number(math.Mod(f+360, 360))
		case "atan2":
			y, _ := eval(t, e.Args[1], values).Float64()
			return number(math.Atan2(f, y) * 180 / math.Pi)
		}
	}
	t.Fatalf("%T is no formula", e)
	return nil
}

// Gerrity's score of a perfect forecast is 1, of a 2x2 table Hanssen and Kuipers's discriminant, and of a forecast
// without relation to the observation 0.
func TestGerrity(t *testing.T) {
	for _, c := range []struct {
		counts []float64
		want   float64
	}{
		{[]float64{5, 0, 0, 0, 9, 0, 0, 0, 2}, 1},
		{[]float64{28, 72, 23, 2680}, 28.0/51 - 72.0/2752},
		{[]float64{4, 4, 4, 4, 4, 4, 4, 4, 4}, 0},
	} {
		v := append([]float64{math.Sqrt(float64(len(c.counts)))}, c.counts...)
		if got, ok := statOf(t, "MCTC", "GER").Eval(v); !ok || !near(got, c.want, 1e-12) {
			t.Errorf("%v: %v, %v; want %v", c.counts, got, ok, c.want)
		}
	}
	if got, ok := statOf(t, "MCTC", "GER").Eval([]float64{3, 5, 1, 0, 1, 5, 0, 0, 0, 0}); ok {
		t.Errorf("of a category that never came: %v", got)
	}
}

// TestCategoriesWithDifferentChances: only HSS_EC depends on ec_value. Records that differ in it, or lack it, define
// the other statistics of their counts.
func TestCategoriesWithDifferentChances(t *testing.T) {
	lt := lineType(t, "MCTC")
	counts := [][]float64{{20, 5, 10, 65}, {50, 30, 20, 200}}
	for _, chances := range [][2]float64{{0.25, 0.5}, {0.5, math.NaN()}} {
		cols := make([][]float64, lt.NumCols(), lt.NumCols()+4)
		for name, values := range map[string][]float64{"total": {100, 300}, "n_cat": {2, 2}, "ec_value": chances[:]} {
			c, _ := lt.Column(name)
			cols[c.Slot] = values
		}
		for k := range 4 {
			cols = append(cols, []float64{counts[0][k], counts[1][k]})
		}
		// As a 2x2 table: 70 hits, 35 false alarms, 30 misses, 265 correct negatives.
		for name, want := range map[string]float64{"ACC": 335.0 / 400, "HK": 70.0/100 - 35.0/300, "HSS": (335 - 247.5) / (400 - 247.5)} {
			if v, ok, err := Summarize(Overall, statOf(t, "MCTC", name), lt, cols); !ok || err != nil || !near(v, want, 1e-12) {
				t.Errorf("%s with ec_value %v = %v, %v, %v; want %v", name, chances, v, ok, err, want)
			}
		}
		if v, ok, err := Summarize(Overall, statOf(t, "MCTC", "GER"), lt, cols); !ok || err != nil {
			t.Errorf("GER with ec_value %v = %v, %v", chances, v, err)
		}
		if v, ok, err := Summarize(Overall, statOf(t, "MCTC", "HSS_EC"), lt, cols); ok || err != nil {
			t.Errorf("HSS_EC with ec_value %v = %v, %v", chances, v, err)
		}
	}
}
