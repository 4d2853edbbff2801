import { CommandFault } from './command-fault.js'
import type { Answer } from './delivery.js'

export function formatAnswer({ status, body }: Answer): string {
  return `${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`
}

/** Such as `202 × 1, 200 × 49`. */
export function formatTally(answers: Answer[]): string {
  const statuses = [...new Set(answers.map(({ status }) => status))].sort((one, other) => other - one)
  return statuses
    .map((status) => `${status} × ${answers.filter((answer) => answer.status === status).length}`)
    .join(', ')
}

/**
 * One delivery, however often it is sent, is accepted once.
 *
 * @throws CommandFault with the first answer that is not as it should be
 */
export function checkAnswers(answers: Answer[], expected: 'accepted' | 'refused'): void {
  const statuses = expected === 'accepted' ? [202, 200] : [401]
  const odd = answers.find(({ status }) => !statuses.includes(status))
  if (odd) throw new CommandFault(`Expected ${statuses.join(' or ')}, and got ${formatAnswer(odd)}`)
  if (answers.filter(({ status }) => status === 202).length > 1)
    throw new CommandFault('Expected 202 only once, and got it several times.')
}
