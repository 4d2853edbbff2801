import { type Static, Type } from 'typebox'

/** Of each window together. */
export const maxCounted = 100
/** Events of a batch. */
export const maxCollected = 100
/** Executions of a key that wait for the one in progress. */
export const maxQueued = 1_000

const window = (description: string) =>
  Type.String({ minLength: 1, maxLength: 20, description: `${description}: such as 24h or 7d, at most 366d` })

/** One object, so that each fault is reported once: findPerKeyFaults says that it has either `for` or `at`. */
const Collect = Type.Object(
  {
    for: Type.Optional(window('How long after its first event a batch ends. Required unless at is set')),
    at: Type.Optional(
      Type.Object(
        {
          cron: Type.String({
            maxLength: 200,
            description: 'Minute, hour, day of the month, month and day of the week, such as 0 8 * * *',
          }),
          timezone: Type.String({ maxLength: 64, description: 'IANA time zone, such as Europe/Berlin' }),
        },
        {
          title: 'CollectAt',
          additionalProperties: false,
          description:
            'A batch ends at the next of these times after its first event. Required unless for is set.',
        },
      ),
    ),
    quiet: Type.Optional(window('A batch ends early when no event of its key came for so long')),
    max: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxCollected,
        description: `A batch ends early with so many events. Default: ${maxCollected}.`,
      }),
    ),
  },
  {
    title: 'Collect',
    additionalProperties: false,
    description:
      'Events of a key make one execution together: a batch, which begins at its end. Its actions read {{collected.count}} and {{collected.events}}.',
  },
)

/**
 * What a rule remembers of its earlier events and executions, for each key. One that could not stand for a text would not be shared: text and
 * number 7 are one key.
 */
export const PerKey = Type.Object(
  {
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Template over the event data, such as {{id}}. Events for which it gives the same text share a key, also those that lack the field. Omitted: all events share one.',
      }),
    ),
    atLeast: Type.Optional(
      Type.Object(
        { events: Type.Integer({ minimum: 2, maximum: maxCounted }), within: window('Length of the window') },
        {
          title: 'AtLeast',
          additionalProperties: false,
          description:
            'Only the event that completes so many matching events of its key within the window starts an execution. These events are then used up.',
        },
      ),
    ),
    atMost: Type.Optional(
      Type.Object(
        { runs: Type.Integer({ minimum: 1, maximum: maxCounted }), per: window('Length of the window') },
        {
          title: 'AtMost',
          additionalProperties: false,
          description: 'In no window of this length does a key have more executions.',
        },
      ),
    ),
    whileRunning: Type.Optional(
      Type.Enum(['skip', 'replace', 'queue'], {
        description:
          'What happens to an event while an execution of its key is in progress or waits. skip: no execution. replace: its execution takes the place of the earlier one. queue: its execution waits for the earlier ones.',
      }),
    ),
    collect: Type.Optional(Collect),
  },
  {
    title: 'PerKey',
    additionalProperties: false,
    description: 'Limits of the executions that events start, for each key',
    examples: [{ key: '{{id}}', atMost: { runs: 1, per: '7d' } }],
  },
)
export type PerKey = Static<typeof PerKey>

// One schema instead of a union reports a fault once.
export const PerKeyOrNone = Type.Unsafe<PerKey | null>({ ...PerKey, type: ['object', 'null'] })
