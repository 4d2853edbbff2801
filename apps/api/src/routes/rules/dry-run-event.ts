import { postgresNow } from '@automation/database'
import type { Given, WorkLimits } from '@automation/engine'
import type { FastifyRequest } from 'fastify'
import { warnOfTexts } from '../../long-numbers.js'
import { readAllDefinitions } from './definition-texts.js'

/**
 * What each active rule for this type would do, in the order of their creation. Nothing is stored, so there is neither an event nor a
 * job.
 *
 * @returns the JSON of a TriggerResult
 */
export async function dryRunEventOfRequest(
  request: FastifyRequest,
  { type, data, explains, given }: { type: string; data: object; explains: boolean; given: Given },
  limits: WorkLimits,
): Promise<Uint8Array> {
  const { id, reads } = request.workspace
  return request.readAndEvaluate(async (evaluate) =>
    evaluate('dryRunEvent', {
      rules: await readAllDefinitions(reads, id, type),
      data,
      now: postgresNow(),
      limits,
      explains,
      given,
      ...warnOfTexts(request.longNumbers),
    }),
  )
}
