import { TooMuchAtOnce } from '@automation/admission'
import { ReadTooLong } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { isTooMany } from '../../errors.js'

/** What the newest events of a trigger have, as JSON, for what can do without it: undefined while others keep the evaluator busy. */
export async function surveyIfFree(
  request: FastifyRequest,
  trigger: string,
  wanted: number,
  limits: { events: number; ms: number },
): Promise<string | undefined> {
  try {
    const { fields } = await request.server.survey(request, trigger, wanted, limits)
    return fields
  } catch (error) {
    if (isTooMany(error) || error instanceof ReadTooLong || error instanceof TooMuchAtOnce) return undefined
    throw error
  }
}
