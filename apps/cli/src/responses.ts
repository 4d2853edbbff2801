import { CommandError } from './command-error.js'
import type { DeliveryResponse } from './delivery.js'

export function formatResponse({ status, body }: DeliveryResponse): string {
  return `${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`
}

/** Counts responses by status, such as `202 × 1, 200 × 49`. */
export function formatStatusCounts(responses: DeliveryResponse[]): string {
  const statuses = [...new Set(responses.map(({ status }) => status))].sort((one, other) => other - one)
  return statuses
    .map((status) => `${status} × ${responses.filter((response) => response.status === status).length}`)
    .join(', ')
}

/**
 * Checks the responses to one delivery, which is accepted once, however often it is sent.
 *
 * @throws CommandError with the first unexpected response
 */
export function checkResponses(responses: DeliveryResponse[], expected: 'accepted' | 'refused'): void {
  const statuses = expected === 'accepted' ? [202, 200] : [401]
  const unexpected = responses.find(({ status }) => !statuses.includes(status))
  if (unexpected)
    throw new CommandError(`Expected ${statuses.join(' or ')}, but got ${formatResponse(unexpected)}`)
  if (responses.filter(({ status }) => status === 202).length > 1)
    throw new CommandError('Expected 202 only once, but got it several times.')
}
