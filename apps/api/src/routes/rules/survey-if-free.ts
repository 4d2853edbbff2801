import { NotAdmitted } from '@automation/admission'
import { ReadTooLong } from '@automation/database'
import type { FastifyRequest } from 'fastify'
import { surveyEventType } from '../../evaluation/survey.js'

/** What the newest events of a trigger have, as JSON, for what can do without it: undefined while others keep the evaluator busy. */
export async function surveyIfFree(
  request: FastifyRequest,
  trigger: string,
  wanted: number,
  limits: { events: number; ms: number },
): Promise<string | undefined> {
  try {
    const { fields } = await surveyEventType(request, trigger, wanted, limits)
    return fields
  } catch (error) {
    if (error instanceof NotAdmitted || error instanceof ReadTooLong) return undefined
    throw error
  }
}
