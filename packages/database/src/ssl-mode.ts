/**
 * Names what the driver does. It takes `prefer`, `require` and `verify-ca` for `verify-full`, and says so in six lines on stderr, which no
 * reader of the log expects. `uselibpqcompat=true` gives them the meaning that they have in libpq.
 */
export function nameSslMode(url: string): string {
  if (/[?&]uselibpqcompat=true(&|$)/.test(url)) return url
  return url.replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, 'verify-full')
}
