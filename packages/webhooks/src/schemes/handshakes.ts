import { createHmac } from 'node:crypto'
import type { Handshake } from './scheme.js'

/** What a provider gets back that only asks for a challenge. */
export interface ChallengeAnswer {
  contentType: string
  body: string
}

/** Of a challenge that is signed, or returned to a sender that knows a token: an answer to a free text would sign anything for a stranger. */
const token = /^[A-Za-z0-9_-]{1,64}$/
/** Of one that is returned as it is. */
const maxLength = 1_000

/**
 * The response to a challenge in a body whose signature was verified.
 *
 * @param read the text at a path of the body
 * @returns undefined where the body asks for none, or for one that is not answered
 */
export function answerHandshake(
  handshake: Handshake | undefined,
  key: Buffer,
  read: (path: string) => string | undefined,
): ChallengeAnswer | undefined {
  if (handshake === undefined || read(handshake.path) !== handshake.is) return undefined
  const challenge = read(handshake.challenge) ?? ''
  if (handshake.answer === 'text')
    return challenge === '' || challenge.length > maxLength
      ? undefined
      : { contentType: 'text/plain', body: challenge }
  if (!token.test(challenge)) return undefined
  const signed = createHmac('sha256', key).update(challenge).digest('hex')
  const body = { [handshake.answer.challenge]: challenge, [handshake.answer.signature]: signed }
  return { contentType: 'application/json', body: JSON.stringify(body) }
}

/** The question of a provider in the URL of a GET, as Meta asks it (WebSub, too). Texts are '' where they are missing. */
export interface UrlChallenge {
  verifyToken: string
  challenge: string
  /** Whether it may be returned. */
  isToken: boolean
}

/** @param query as it was sent @returns undefined where it asks for no challenge */
export function readUrlChallenge(query: string): UrlChallenge | undefined {
  const parameters = new URLSearchParams(query)
  if (parameters.get('hub.mode') !== 'subscribe') return undefined
  const challenge = parameters.get('hub.challenge') ?? ''
  return { verifyToken: parameters.get('hub.verify_token') ?? '', challenge, isToken: token.test(challenge) }
}

/** The forms with which providers ask, unsigned, whether somebody is there. WooCommerce's. */
const unsignedPings: readonly RegExp[] = [/^webhook_id=\d{1,20}$/]
/** In bytes. Nothing longer is read for it. */
export const maxPingBytes = 64

/** Whether a form has nothing but such a question. The answer is the same for everybody, so it says nothing. */
export function isUnsignedPing(form: Buffer): boolean {
  return form.length <= maxPingBytes && unsignedPings.some((pattern) => pattern.test(form.toString('latin1')))
}
