package serve

import (
	"crypto/subtle"
	"net"
	"net/http"
	"slices"
	"strings"
)

// policy lets a page use only what this server sends. The chart sets styles by script, which the policy
// allows.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard refuses requests that do not come from the user's own browser. These are methods other than GET and
// HEAD, a foreign name that points to this machine (DNS rebinding), a foreign Origin, and requests without
// the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch origin := r.Header.Get("Origin"); {
		case !s.isOwnHost(r.Host):
			http.Error(w, "this host is not served; open the URL that barograph serve printed", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page accepts only GET and HEAD", http.StatusMethodNotAllowed)
		case origin != "" && origin != "http://"+r.Host:
			http.Error(w, "requests from other pages are refused", http.StatusForbidden)
		case s.isToken(r.URL.Query().Get("token")):
			s.setCookie(w, r)
		case !s.hasCookie(r):
			http.Error(w, "the token is missing or old; open the URL that barograph serve printed", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isOwnHost reports whether the Host of a request is that of the printed URL, or another name of this
// machine with the same port. Browsers omit port 80.
func (s *Server) isOwnHost(host string) bool {
	ownName, ownPort, err := net.SplitHostPort(s.o.Host)
	if err != nil {
		return host == s.o.Host
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	return port == ownPort && slices.Contains([]string{ownName, "127.0.0.1", "localhost", "::1"}, name)
}

func (s *Server) isToken(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// cookieName contains the port, because a browser sends the cookies of a machine to all its servers.
func (s *Server) cookieName() string {
	return "barograph-" + s.o.Host[strings.LastIndexByte(s.o.Host, ':')+1:]
}

func (s *Server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(s.cookieName())
	return err == nil && s.isToken(c.Value)
}

// Opened is the URL parameter that `barograph serve --open` adds. It starts the browser with a local HTML file
// that redirects to the URL. For a browser the file is another site, and after a redirect from another site it
// sends no strict cookie. Therefore the response is a page of this server, which then opens the URL without the
// token.
const Opened = "opened"

// setCookie stores the token in a cookie and redirects to the URL without it. A URL that a user passes on
// therefore contains no token.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
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
