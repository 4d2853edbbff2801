import { Type } from 'typebox'
import { cutText } from '../texts/cut-text.js'

/** What a WAIT for a decision waits for, and in tests of rules the type of the event that decides. No event outside of them has it. */
export const decisionType = 'DECISION'

/** The choice where nobody decided in time. No option has this name. */
export const expiredChoice = 'expired'

/** Of a reason, in characters. */
export const maxReasonLength = 1_000

/** What was decided. */
export const MadeDecision = Type.Object(
  {
    choice: Type.String({
      description: `One of the options, or ${expiredChoice} if nobody decided in time`,
    }),
    reason: Type.Optional(Type.String({ description: 'As the person wrote it' })),
    by: Type.Optional(Type.String({ description: 'Who decided: as in the audit log' })),
  },
  { title: 'MadeDecision', description: 'Of a WAIT for a decision that has ended: what was decided' },
)
export type MadeDecision = Type.Static<typeof MadeDecision>

/** Nobody decided in time. */
export const expiredDecision: MadeDecision = Object.freeze({ choice: expiredChoice })

/** Reads what an event of type DECISION in a test of rules decides. Takes any object. */
export function readDecision(data: object): MadeDecision {
  const { choice, reason, by } = data as Record<string, unknown>
  return {
    choice: String(choice),
    ...(typeof reason === 'string' && { reason: cutText(reason, maxReasonLength) }),
    ...(typeof by === 'string' && { by }),
  }
}
