import type { Logger } from 'pino'
import type { CallContext } from './effect.js'

/** Notes why a call failed, where the tenant's error leaves it out: it names an address of a network that is not the tenant's. */
export type LogCause = (error: unknown, context: CallContext) => void

/** At level debug: a target that is away fails as many calls as its rules make. */
export function createCauseLog(log: Logger): LogCause {
  return (error, { executionId, rule, event }) => {
    if (!log.isLevelEnabled('debug')) return
    const { message, address, port } = error as Error & { address?: string; port?: number }
    log.debug(
      { executionId, eventId: event.id, ruleId: rule.id, cause: message, address, port },
      'outbound call did not reach its destination',
    )
  }
}
