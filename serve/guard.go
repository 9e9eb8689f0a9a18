package serve

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// policy lets a page use nothing but what this server sends. The chart sets
// styles by script, which the policy does not forbid.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses requests that do not come from the user's own browser: methods other than GET and
// HEAD, a Host whose name was made to point here (rebinding), a foreign Origin, and requests
// without the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch origin := r.Header.Get("Origin"); {
		case !s.known(r.Host):
			http.Error(w, "this Host is not served: open the URL that barograph serve printed", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page is only read", http.StatusMethodNotAllowed)
		case origin != "" && origin != "http://"+r.Host:
			http.Error(w, "another page asked", http.StatusForbidden)
		case s.carries(r.URL.Query().Get("token")):
			s.remember(w, r)
		case !s.remembered(r):
			http.Error(w, "open the URL that barograph serve printed: it carries a token", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// known reports whether a browser reached us by the name that was printed, or by
// another of this machine.
func (s *Server) known(host string) bool {
	if host == s.o.Host {
		return true
	}
	_, ours, err := net.SplitHostPort(s.o.Host)
	name, port, also := net.SplitHostPort(host)
	return err == nil && also == nil && port == ours && (name == "127.0.0.1" || name == "localhost" || name == "::1")
}

func (s *Server) carries(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// cookie is named by the port: several servers of this machine share its cookies.
func (s *Server) cookie() string {
	_, port, _ := strings.Cut(s.o.Host, ":")
	return "barograph-" + port[strings.LastIndexByte(port, ':')+1:]
}

func (s *Server) remembered(r *http.Request) bool {
	c, err := r.Cookie(s.cookie())
	return err == nil && s.carries(c.Value)
}

// remember puts the token into a cookie and takes it out of the URL, so that a
// URL that is handed on carries none.
func (s *Server) remember(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	u := *r.URL
	q := u.Query()
	q.Del("token")
	q.Del(Opened)
	u.RawQuery, u.Scheme, u.Host = q.Encode(), "", ""
	if u.Path = "/" + strings.TrimLeft(u.Path, "/"); strings.Contains(u.Path, `\`) { // never //elsewhere
		u.Path = "/"
	}
	if r.URL.Query().Has(Opened) {
		w.Header().Set("Refresh", "0; url="+u.RequestURI())
		return
	}
	http.Redirect(w, r, u.RequestURI(), http.StatusSeeOther)
}

// Opened is the parameter of a URL that a file on this machine leads to. A browser
// sends a strict cookie with no redirect that starts at another site, as that file
// is: the answer is a page of our own, which leads on.
const Opened = "opened"
