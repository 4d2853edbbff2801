import type { FastifyInstance } from 'fastify'

/**
 * A page may load from and call only this process, no other site may frame it, and no text becomes markup or script: the data of
 * events is hostile. `trusted-types 'none'` refuses even the creation of a policy.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Sets the headers on every response, including refusals and errors. Caches may store only the files of the page. */
export function addSecurityHeaders(app: FastifyInstance, { url }: { url: URL }): void {
  const all =
    url.protocol === 'https:' ? { ...headers, 'strict-transport-security': 'max-age=31536000' } : headers
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(all)
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
}
