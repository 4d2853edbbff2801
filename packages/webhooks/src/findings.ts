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

export type SignatureFindingCode = keyof typeof advice

// %s is the subject of the deviation: a name from the workspace itself, or the start of what the response said.
const advice = {
  refused: 'The response said: %s.',
  foreign_scheme:
    'The delivery is signed in the format of %s, which no signing secret of this provider has as its scheme; create a secret with that scheme, under a provider name of its own.',
  no_match_of_provider:
    'No signing secret of this provider fits, and no known mistake explains the signature of %s.',
  usual_mistake: 'Check this first: %s.',
  secret_prefix:
    'The secret was stored without its whsec_, or with one that it does not have; store it exactly as the provider shows it.',
  other_url:
    'The provider has signed another URL, with %s; enter that one as publicUrl in the settings of the secret.',
  body_changed:
    'The body was changed on its way (what was signed is %s); what stands between the provider and this service must pass it on byte for byte.',

  header_missing: 'The header %s is missing or empty.',

  not_a_signature:
    'X-Signature contains nothing that looks like a signature; send v1= and the 64 hex digits of the HMAC-SHA256.',
  signature_base64: 'The signature is base64; send it as lowercase hex.',
  signature_base64url: 'The signature is base64url; send it as lowercase hex.',
  signature_base64_of_hex: 'The signature is hex that was encoded in base64 once more; send the hex itself.',
  signature_standard_webhooks:
    'The signature is written v1,<base64> as Standard Webhooks has it; write v1=<hex>.',
  signature_prefix:
    'X-Signature carries more than the signature, such as sha256= or quotes; write v1=<hex> and nothing else.',
  signature_truncated: 'The signature is cut short; send all 64 hex digits.',
  signature_sha1: 'The signature is an HMAC-SHA1; use HMAC-SHA256.',
  signature_sha512: 'The signature is an HMAC-SHA512; use HMAC-SHA256.',

  timestamp_milliseconds: 'X-Timestamp is in milliseconds; send whole seconds, and sign the same text.',
  timestamp_malformed:
    'X-Timestamp is not a Unix time in seconds; send it as ten digits, and sign the same text.',
  signed_milliseconds:
    'X-Timestamp is in seconds, but what was signed holds milliseconds; sign exactly the text of the header.',

  signed_without_id: 'The id was left out of what was signed; sign <id>.<timestamp>.<body>.',
  signed_without_timestamp: 'The timestamp was left out of what was signed; sign <id>.<timestamp>.<body>.',
  signed_body_alone: 'The body alone was signed; sign <id>.<timestamp>.<body>.',
  signed_in_other_order:
    'The id and the timestamp were signed in the wrong order; sign <id>.<timestamp>.<body>.',
  signed_without_separators: 'The parts were signed without the dots between them; put one dot between each.',
  signed_with_other_separators: 'The parts were signed with %s between them; put one dot between each.',

  body_rewritten:
    'The body was serialized again after it was signed (what was signed is %s); send exactly the bytes that you sign.',
  body_newline:
    'A line break at the end of the body was signed but not sent, or sent but not signed; send exactly the bytes that you sign.',

  key_with_prefix: 'The whole secret was used as the key; remove whsec_ and base64-decode the rest.',
  key_not_decoded:
    'The text after whsec_ was used as the key without decoding; base64-decode it, and sign with the bytes.',
  key_decoded_with_prefix:
    'The secret was base64-decoded together with its whsec_; remove whsec_ first, then decode.',

  unknown_signature_id:
    'X-Signature-Id does not name a secret of this workspace; send the id of the secret that signs.',
  other_secret:
    'The secret %s signed this, but X-Signature-Id does not name it; send its id, or sign with the secret that is named.',
  other_provider:
    'The secret belongs to the provider %s; post to the path of that provider, or sign with a secret of this one.',
  secret_retired: 'The secret has retired and is no longer valid; use a newer one.',
  secret_revoked: 'The secret was revoked and is no longer valid; use another one.',

  signature_matches:
    'The signature is correct; if the delivery was refused for its timestamp, set the clock of the sender, and sign each retry with the current time.',
  no_match:
    'No known mistake explains this signature; it was probably made with a secret of another workspace, or over a body that changed on its way.',
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
