import type { Deviation } from './findings.js'
import { type Attempt, listMistakes, type Mistake } from './mistakes.js'
import { isNamed, judgeSecret, type KnownSecret, type RefusedDelivery } from './refused-delivery.js'

/** An attempt, and in what it deviates from the right one. */
export interface Candidate {
  attempt: Attempt
  deviations: Deviation[]
}

const maxDeviations = 5
/** A thousand hashes of such a body leave about half of a search's budget. */
const maxSweptBytes = 2048

/**
 * What the sender may have signed: the product of the workspace's secrets and of all mistakes, those with the fewest
 * deviations first; among equals, those of the secret that is named. They are many: whoever asks has to stop.
 */
export function* listAttempts(delivery: RefusedDelivery, secrets: KnownSecret[]): Generator<Candidate> {
  const starts = rankSecrets(delivery, secrets).map((secret) => startFrom(delivery, secret))
  const [likeliest] = starts
  let mistakes: Mistake[][] = []
  for (let deviations = 0; deviations <= maxDeviations; deviations++) {
    // Not before the exact content was tried: rewriting a body is work.
    if (deviations === 1) mistakes = listMistakes(delivery)
    for (const start of starts) yield* vary(start, mistakes, deviations - start.deviations.length)
    if (likeliest && deviations === likeliest.deviations.length + 1) yield* varyMilliseconds(likeliest)
  }
}

/** The named one first, even where it is retired. */
function rankSecrets(delivery: RefusedDelivery, secrets: KnownSecret[]): KnownSecret[] {
  const rank = (secret: KnownSecret) => (isNamed(secret, delivery) ? 0 : judgeSecret(secret, delivery).length)
  return secrets.toSorted((one, other) => rank(one) - rank(other))
}

function startFrom(delivery: RefusedDelivery, secret: KnownSecret): Candidate {
  const { id, timestamp, body } = delivery
  return {
    attempt: {
      key: secret.key,
      id,
      timestamp,
      body,
      parts: ['id', 'timestamp', 'body'],
      separator: '.',
      ending: '',
    },
    deviations: judgeSecret(secret, delivery),
  }
}

/** Every attempt with exactly so many mistakes more, at most one of each kind. Those of the last kind come first. */
function* vary(start: Candidate, mistakes: Mistake[][], count: number): Generator<Candidate> {
  if (count === 0) yield start
  const [kind, ...others] = mistakes
  if (count <= 0 || kind === undefined) return
  yield* vary(start, others, count)
  for (const { deviation, make } of kind) {
    const attempt = { ...start.attempt, ...make(start.attempt) }
    yield* vary({ attempt, deviations: [...start.deviations, deviation] }, others, count - 1)
  }
}

/** A clock's milliseconds were signed, of which the header kept the seconds: the other three digits are guessed. */
function* varyMilliseconds({ attempt, deviations }: Candidate): Generator<Candidate> {
  if (!/^\d{10}$/.test(attempt.timestamp) || attempt.body.length > maxSweptBytes) return
  for (let ms = 1; ms < 1000; ms++) {
    const timestamp = attempt.timestamp + String(ms).padStart(3, '0')
    yield { attempt: { ...attempt, timestamp }, deviations: [...deviations, { code: 'signed_milliseconds' }] }
  }
}
