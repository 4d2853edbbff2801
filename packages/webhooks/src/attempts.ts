import type { Deviation } from './findings.js'
import { listMistakes, type Mistake, type Signing } from './mistakes.js'
import { isNamed, type KnownSecret, listDeviations, type RefusedDelivery } from './refused-delivery.js'

/** An attempt, and its deviations from the correct one. */
export interface Candidate {
  attempt: Signing
  deviations: Deviation[]
}

const maxDeviations = 5
/** A thousand hashes of a body of this size leave about half of a search's budget. */
const maxSweptBytes = 2048

/**
 * Lists what the sender may have signed: every secret of the workspace combined with every mistake. Attempts with the
 * fewest deviations come first; among equals, those of the named secret. The list is long, so the caller must stop.
 */
export function* listAttempts(delivery: RefusedDelivery, secrets: KnownSecret[]): Generator<Candidate> {
  const starts = rankSecrets(delivery, secrets).map((secret) => startFrom(delivery, secret))
  const [likeliest] = starts
  let mistakes: Mistake[][] = []
  for (let deviations = 0; deviations <= maxDeviations; deviations++) {
    // Only after the exact content was tried, because rewriting a body is expensive.
    if (deviations === 1) mistakes = listMistakes(delivery)
    for (const start of starts) yield* vary(start, mistakes, deviations - start.deviations.length)
    if (likeliest && deviations === likeliest.deviations.length + 1) yield* varyMilliseconds(likeliest)
  }
}

/** The named secret comes first, even if it is retired. */
function rankSecrets(delivery: RefusedDelivery, secrets: KnownSecret[]): KnownSecret[] {
  const rank = (secret: KnownSecret) =>
    isNamed(secret, delivery) ? 0 : listDeviations(secret, delivery).length
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
    deviations: listDeviations(secret, delivery),
  }
}

/** Every attempt with exactly `count` more mistakes, at most one of each kind. Mistakes of the last kind come first. */
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

/** The sender signed milliseconds, but sent only the seconds in the header: the other three digits are guessed. */
function* varyMilliseconds({ attempt, deviations }: Candidate): Generator<Candidate> {
  if (!/^\d{10}$/.test(attempt.timestamp) || attempt.body.length > maxSweptBytes) return
  for (let ms = 1; ms < 1000; ms++) {
    const timestamp = attempt.timestamp + String(ms).padStart(3, '0')
    yield { attempt: { ...attempt, timestamp }, deviations: [...deviations, { code: 'signed_milliseconds' }] }
  }
}
