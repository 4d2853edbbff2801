/** A finding about a refused delivery: one sentence of advice for the person who configures the sender. */
export interface SignatureFinding {
  code: SignatureFindingCode
  message: string
  /** The secret that the finding is about, if any. */
  secretId?: string
}

/** One deviation of the sender; `about` fills the gap in its sentence. */
export interface Deviation {
  code: SignatureFindingCode
  about?: string
  secretId?: string
}

type SignatureFindingCode = keyof typeof advice

// %s is the subject of the deviation: a name from the workspace itself, or the start of what the response said.
const advice = {
  refused: 'The response said: %s.',
  foreign_scheme:
    'The delivery is signed in the format of %s, which no signing secret of this provider has as its scheme; create a secret with that scheme, under a provider name of its own.',
  header_missing: 'The header %s is missing or empty.',
  timestamp_unreadable:
    'The signature is correct, but the time that is signed cannot be read; it has to be a Unix time (seconds, ms, µs or ns) or RFC 3339, in the header that the settings of the secret name.',

  secret_prefix:
    'The secret was stored without its whsec_, or with one that it does not have; store it exactly as the provider shows it.',
  other_url:
    'The provider has signed another URL, with %s; enter that one as publicUrl in the settings of the secret.',
  body_changed:
    'The body was written again after it was signed (what was signed is %s); the sender must send exactly the bytes that it signs, and what stands between it and this service must pass them on.',
  body_newline:
    'A line break at the end of the body was signed but not sent, or sent but not signed; send exactly the bytes that you sign.',

  unknown_signature_id:
    'X-Signature-Id does not name a secret of this workspace; send the id of the secret that signs.',
  other_secret:
    'The secret %s signed this, but X-Signature-Id does not name it; send its id, or sign with the secret that is named.',
  other_provider:
    'The secret belongs to the provider %s; post to the path of that provider, or sign with a secret of this one.',
  secret_retired: 'The secret has retired and is no longer valid; use a newer one.',
  secret_revoked: 'The secret was revoked and is no longer valid; use another one.',

  signature_matches:
    'The signature is correct; if the delivery was refused for its timestamp, set the clock of the sender, and sign each retry with the current time, in seconds.',
  no_match_of_provider:
    'No signing secret of this provider fits, and no known mistake explains the signature of %s.',
  usual_mistake: 'Check this first: %s.',
} as const satisfies Record<string, string>

export const findingCodes = Object.keys(advice) as SignatureFindingCode[]

export function presentFinding({ code, about = '', secretId }: Deviation): SignatureFinding {
  const message = advice[code].replace('%s', () => about)
  return secretId === undefined ? { code, message } : { code, message, secretId }
}

/** Presents each finding once: several ways may have led to it. */
export function presentAll(deviations: Deviation[]): SignatureFinding[] {
  const findings = deviations.map(presentFinding)
  return [...new Map(findings.map((finding) => [finding.message, finding])).values()]
}
