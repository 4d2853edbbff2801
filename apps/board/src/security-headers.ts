import { securityHeaders } from '@automation/process/server'

/**
 * A page may load from and call only this process. Inline styles are allowed because the board sets some while it renders. The board
 * does not know whether a proxy serves it by https.
 */
export const boardHeaders = securityHeaders(
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ],
  false,
)
