import type { Deviation, SignatureFindingCode } from './findings.js'
import { isMilliseconds, type RefusedDelivery } from './refused-delivery.js'
import { rewriteJson } from './rewrite-json.js'

/** One way in which the sender may have signed. */
export interface Signing {
  key: Buffer
  id: string
  timestamp: string
  body: Buffer
  /** The parts are joined by the separator, and the ending follows the last one. */
  parts: readonly ('id' | 'timestamp' | 'body')[]
  separator: string
  ending: string
}

/** One possible mistake of the sender. */
export interface Mistake {
  deviation: Deviation
  make: (attempt: Signing) => Partial<Signing>
}

/**
 * The known mistakes of senders, grouped by kind: a sender makes at most one mistake of each kind. The likeliest kind comes
 * last, and within a kind the likeliest mistake comes first, because a large body allows only few attempts.
 */
export function listMistakes({ timestamp, body }: RefusedDelivery): Mistake[][] {
  return [separators, listTimes(timestamp), listRewritten(body), listEndings(body), keys, parts]
}

const parts = [
  mistake('signed_without_id', () => ({ parts: ['timestamp', 'body'] })),
  mistake('signed_body_alone', () => ({ parts: ['body'] })),
  mistake('signed_without_timestamp', () => ({ parts: ['id', 'body'] })),
  mistake('signed_in_other_order', () => ({ parts: ['timestamp', 'id', 'body'] })),
]

const keys = [
  mistake('key_not_decoded', ({ key }) => ({ key: Buffer.from(key.toString('base64')) })),
  mistake('key_with_prefix', ({ key }) => ({ key: Buffer.from(writeSecret(key)) })),
  mistake('key_decoded_with_prefix', ({ key }) => ({ key: Buffer.from(writeSecret(key), 'base64') })),
]

const separators = [
  mistake('signed_without_separators', () => ({ separator: '' })),
  mistake('signed_with_other_separators', () => ({ separator: ':' }), 'colons'),
  mistake('signed_with_other_separators', () => ({ separator: '\n' }), 'line breaks'),
]

function listEndings(body: Buffer): Mistake[] {
  const added = ['\n', '\r\n'].map((ending) => mistake('body_newline', () => ({ ending })))
  const lineBreak = /\r?\n$/.exec(body.subarray(-2).toString('latin1'))?.[0]
  if (lineBreak === undefined) return added
  const bare = body.subarray(0, -lineBreak.length)
  const other = lineBreak === '\n' ? '\r\n' : '\n'
  return [
    mistake('body_newline', () => ({ body: bare })),
    mistake('body_newline', () => ({ body: bare, ending: other })),
    ...added,
  ]
}

function listRewritten(body: Buffer): Mistake[] {
  return rewriteJson(body).map(({ name, text }) => {
    const written = Buffer.from(text)
    return mistake('body_rewritten', () => ({ body: written }), name)
  })
}

function listTimes(timestamp: string): Mistake[] {
  return isMilliseconds(timestamp)
    ? [mistake('timestamp_milliseconds', () => ({ timestamp: timestamp.slice(0, -3) }))]
    : [mistake('signed_milliseconds', () => ({ timestamp: `${timestamp}000` }))]
}

function mistake(code: SignatureFindingCode, make: Mistake['make'], about?: string): Mistake {
  return { deviation: about === undefined ? { code } : { code, about }, make }
}

function writeSecret(key: Buffer): string {
  return `whsec_${key.toString('base64')}`
}
