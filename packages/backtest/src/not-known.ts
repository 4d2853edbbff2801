import { findRecordedReads, isCallType, readDeclared } from '@automation/engine'
import type { TestedDefinition } from './backtest-subject.js'

/**
 * Whether events say what an action would have done: it reads neither the result of another one nor a batch, and nothing unknown decides
 * whether it comes to it.
 */
export function listKnown({ actions, perKey }: TestedDefinition): boolean[] {
  const declared = readDeclared(actions, perKey)
  const mayEnd = actions.map(
    ({ type, config }) =>
      type === 'WAIT' && (perKey?.whileRunning === 'replace' || 'for' in config || 'decision' in config),
  )
  return actions.map(
    (action, index) =>
      !mayEnd.slice(0, index).includes(true) && !findRecordedReads(action, index, declared).readsRecorded,
  )
}

/** A call's response is not in any event, so it is assumed to be a success, and what depends on it more closely is not counted. */
export function listNotKnown({ actions, perKey }: TestedDefinition): string[] {
  const declared = readDeclared(actions, perKey)
  return actions.flatMap((action, index) => {
    const { type, continueOnError } = action
    const isLast = index === actions.length - 1
    const stops = isCallType(type) && continueOnError !== true && !isLast
    const isWait = type === 'WAIT' && !isLast
    const waits = isWait && action.config.for !== undefined
    const asks = isWait && action.config.decision !== undefined
    const yields = isWait && !waits && !asks && perKey?.whileRunning === 'replace'
    return [
      ...(asks ? [`actions[${index}]: what a person decides, and when. What follows is not counted.`] : []),
      ...(waits
        ? [`actions[${index}]: whether an event ends it, and when. What follows is not counted.`]
        : []),
      ...(yields
        ? [
            `actions[${index}]: which executions a newer one of their key replaces during it. What follows is not counted: \`replaced\` says how many do not come to it.`,
          ]
        : []),
      ...(findRecordedReads(action, index, declared).readsRecorded
        ? [
            `actions[${index}]: what it does. It reads ${declared.collects ? 'its batch, or ' : ''}the result of an earlier action.`,
          ]
        : []),
      ...(stops
        ? [`actions[${index}]: whether the call succeeds. A failure would skip the actions after it.`]
        : []),
    ]
  })
}
