import { Type } from 'typebox'

const maxDelay = 86_400_000

/** How a failed action is retried. */
export const Retry = Type.Object(
  {
    attempts: Type.Integer({
      minimum: 1,
      maximum: 20,
      description: 'Total number of attempts, including the first',
    }),
    backoff: Type.Optional(
      Type.Enum(['constant', 'linear', 'exponential'], { description: 'Default: exponential' }),
    ),
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxDelay,
        description: 'Delay before the second attempt. Default: 1000.',
      }),
    ),
    maxDelayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxDelay,
        description: 'Upper limit of the delay. Default: one hour.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'RetryPolicy',
    description:
      'Retry policy of a call. Each delay is random between 0 and the backoff delay (full jitter).',
  },
)
export type Retry = Type.Static<typeof Retry>

const growth = {
  constant: () => 1,
  linear: (failures: number) => failures,
  exponential: (failures: number) => 2 ** (failures - 1),
}

/**
 * The delay (ms) before the next attempt. Undefined when no attempt is left. With full jitter: a random part of the delay that
 * the backoff gives, so that executions that failed together do not retry together.
 *
 * @param failures the number of failed attempts, 1 or more
 * @param random 0 or more, below 1
 * @param retryAfterMs the minimum that the destination requested, at most a day
 */
export function findRetryDelay(
  retry: Retry | undefined,
  failures: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const {
    attempts,
    backoff = 'exponential',
    delayMs = 1_000,
    maxDelayMs = 3_600_000,
  } = retry ?? { attempts: 1 }
  if (failures >= attempts) return undefined
  const delay = Math.min(delayMs * growth[backoff](failures), maxDelayMs)
  return Math.max(Math.round(random * delay), Math.min(retryAfterMs, maxDelay))
}
