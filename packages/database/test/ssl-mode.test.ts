import t from 'tap'
import { nameSslMode } from '../src/ssl-mode.js'

t.test('whatever asks for TLS checks the certificate and the name, unless the URL asks for libpq', (t) => {
  const url = 'postgresql://db.example.com/main'
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
    t.equal(nameSslMode(`${url}?a=b&sslmode=${mode}&c=d`), `${url}?a=b&sslmode=verify-full&c=d`, mode)
  for (const rest of ['', '?sslmode=disable', '?sslmode=no-verify', '?uselibpqcompat=true&sslmode=require'])
    t.equal(nameSslMode(url + rest), url + rest, rest)
  t.end()
})
