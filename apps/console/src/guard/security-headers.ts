import { type SecurityHeaders, securityHeaders } from '@automation/process/server'

/**
 * A page may load from and call only this process, and no text becomes markup or script: the data of events is hostile.
 * `trusted-types 'none'` refuses even the creation of a policy.
 *
 * @param frames who may frame the page
 */
export function consoleHeaders(
  { url }: { url: URL },
  frames: readonly string[] = ["'none'"],
): SecurityHeaders {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${frames.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return securityHeaders(policy, url.protocol === 'https:')
}
