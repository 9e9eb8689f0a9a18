// A click on a column's head sorts by the column; the filter hides rows. Without
// this script the page has the same content.
document.querySelectorAll('table').forEach(function (table) {
  var body = table.tBodies[0];
  table.querySelectorAll('thead th').forEach(function (th, k) {
    th.tabIndex = 0;
    th.setAttribute('role', 'button');
    function number(c) { // the attribute data-v or, without it, the text
      var text = c.firstChild ? c.firstChild.textContent.replace(/,/g, '') : '';
      return c.dataset.v !== undefined ? c.dataset.v : text !== '' && isFinite(text) ? text : undefined;
    }
    function sort() {
      var down = th.getAttribute('aria-sort') === 'ascending';
      table.querySelectorAll('th').forEach(function (o) { o.removeAttribute('aria-sort'); });
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      Array.from(body.rows).sort(function (a, b) {
        var x = a.cells[k], y = b.cells[k], u = number(x), v = number(y), d;
        if (u !== undefined && v !== undefined) d = u - v;
        else if (u !== undefined || v !== undefined) return u !== undefined ? -1 : 1;
        else d = x.textContent.localeCompare(y.textContent);
        return down ? -d : d;
      }).forEach(function (r) { body.appendChild(r); });
    }
    th.addEventListener('click', sort);
    th.addEventListener('keydown', function (e) {
      if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); }
    });
  });
});
var filter = document.getElementById('filter');
if (filter) filter.addEventListener('input', function () {
  var words = filter.value.toLowerCase().split(/\s+/);
  document.querySelectorAll('main tbody tr').forEach(function (r) {
    var text = r.textContent.toLowerCase();
    r.hidden = !words.every(function (w) { return text.indexOf(w) >= 0; });
  });
});
// A link into a folded part opens it.
function reveal() {
  var at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!at || !at.closest('details')) return;
  for (var d = at; d; d = d.parentElement) if (d.tagName === 'DETAILS') d.open = true;
  at.scrollIntoView();
}
window.addEventListener('hashchange', reveal);
reveal();
