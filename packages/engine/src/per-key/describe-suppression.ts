import type { Suppression } from './suppression.js'

/** Says why an execution was suppressed, to people: `2 of 3 events so far`. */
export function describeSuppression(suppression: Suppression): string {
  switch (suppression.reason) {
    case 'at_most':
      return `the limit of its key was reached until ${suppression.until}, by execution ${suppression.executionId}`
    case 'at_least':
      return `${suppression.count} of ${suppression.events} events so far`
    case 'while_running':
      return `execution ${suppression.executionId} of its key had not ended`
    case 'queue_full':
      return 'too many executions of its key were waiting'
    case 'collected':
      return `its event is in the batch of execution ${suppression.executionId}`
  }
}
