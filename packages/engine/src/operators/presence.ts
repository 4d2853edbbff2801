import { define, kinds, negate } from './operator.js'

// A null means the same as a missing key: CRMs send either.
export const exists = define({
  name: 'exists',
  description: 'The field exists and is not null.',
  compares: kinds.filter((kind) => kind !== 'null'),
  example: { holds: [0, '', false, [], {}], fails: [null] },
  compile: () => (actual) => actual !== undefined && actual !== null,
})

export const notExists = negate(exists, {
  name: 'not_exists',
  description: 'The field is missing or null.',
})

export const isEmpty = define({
  name: 'is_empty',
  description: 'The field is missing, null, "", [] or {}.',
  compares: kinds,
  example: { holds: [null, '', [], {}], fails: [0, false, ' ', [null]] },
  compile: () => hasNothing,
})

export const isNotEmpty = negate(isEmpty, {
  name: 'is_not_empty',
  description: 'The opposite of is_empty.',
})

/** JavaScript lists all keys of an object before it says that there is one: of a large object that takes some milliseconds. */
const emptyObjects = new WeakMap<object, boolean>()

function hasNothing(actual: unknown): boolean {
  if (actual === undefined || actual === null || actual === '') return true
  if (typeof actual !== 'object') return false
  if (Array.isArray(actual)) return actual.length === 0
  let isEmpty = emptyObjects.get(actual)
  if (isEmpty === undefined) {
    isEmpty = Object.keys(actual).length === 0
    emptyObjects.set(actual, isEmpty)
  }
  return isEmpty
}
