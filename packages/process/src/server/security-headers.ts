/** Headers of every response of a process that serves pages. */
export type SecurityHeaders = Record<string, string>

/**
 * No other site may frame a page or read a response, and no browser guesses a type.
 *
 * @param policy what a page may load and call: the directives of Content-Security-Policy
 * @param isSecure whether browsers come by https
 */
export function securityHeaders(policy: string[], isSecure: boolean): SecurityHeaders {
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    ...(isSecure && { 'strict-transport-security': 'max-age=31536000' }),
  }
}
