import t from 'tap'
import { htmlToText } from '../src/effects/html-to-text.js'

const cases: [html: string, text: string][] = [
  ['<h1>Hi</h1>', 'Hi\n'],
  ['', ''],
  ['<p></p><br><img src="x">', ''],
  ['a<br>b<br/>c', 'a\nb\nc\n'],
  ['<p>One\n  line</p>\n<p>two</p>', 'One line\n\ntwo\n'],
  ['<div>a</div><div>b <b>c</b>d</div>', 'a\nb cd\n'],
  ['<ul><li>a</li><li>b</li></ul>end', '- a\n- b\n\nend\n'],
  ['<table><tr><th>Name</th><td>Ada</td></tr><tr><td>x</td></tr></table>', 'Name Ada\nx\n'],
  ['<style>p{color:red}</style><script>if (a<b) c()</script><title>t</title>x', 'x\n'],
  ['<head><title>No</title></head><body>Yes</body>', 'Yes\n'],
  ['a<!-- no <p> --> b', 'a b\n'],
  ['<a href="https://a.example/?x=1&amp;y=2">Go</a> now', 'Go (https://a.example/?x=1&y=2) now\n'],
  ["<a href='https://a.example'>https://a.example</a>", 'https://a.example\n'],
  ['<a href="mailto:bo@x.example">bo@x.example</a>', 'bo@x.example\n'],
  ['<a href=https://a.example><img alt="Logo"></a>', 'Logo (https://a.example)\n'],
  ['<a href="#top">Top</a><a name="x">y</a>', 'Topy\n'],
  ['&lt;b&gt; &amp;amp; &#8364;&#x20AC; &unknown; &#0;x', '<b> &amp; €€ &unknown; x\n'],
  ['Gr&uuml;&szlig;e &Auml;&frac12;&yuml;&not;&times;&bdquo;a&ldquo;', 'Grüße Ä½ÿ¬×„a“\n'],
  ['<style><!-- p.MsoNormal, a > b { color: red } --></style>Hi', 'Hi\n'],
  ['1 < 2 && 3 > 2', '1 < 2 && 3 > 2\n'],
  ['<img alt="a > b">c', 'a > bc\n'],
  ['<pre>a\n  b</pre>', 'a\n  b\n'],
  ['a&nbsp;b', 'a\u00a0b\n'],
  ['open <p', 'open\n'],
]

for (const [html, text] of cases) t.test(html, async (t) => t.equal(htmlToText(html), text))

t.test('hostile HTML takes time that grows with its length alone', async (t) => {
  const length = 500_000
  for (const part of [
    '<',
    '<a ',
    '<!--',
    '<script>',
    '<a href="',
    '&',
    '<p>',
    '<a href=x>y</a>',
    '<li>',
    '</',
    'y</a>',
    'a="',
  ]) {
    const html = part.repeat(length / part.length)
    const startedAt = process.cpuUsage()
    htmlToText(html)
    t.ok(process.cpuUsage(startedAt).user < 1_500_000, part)
  }
})
