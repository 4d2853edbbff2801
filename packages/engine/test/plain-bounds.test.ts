import t from 'tap'
import { plainBounds } from '../src/plain-bounds.js'

t.test('limits of length are said as people do, and other messages stay', async (t) => {
  for (const [message, said] of [
    ['must NOT have fewer than 1 characters', 'must have at least 1 character'],
    ['must not have more than 200 characters', 'must have at most 200 characters'],
    ['Must NOT have fewer than 2 items', 'Must have at least 2 items'],
    ['must NOT have more than 1 properties', 'must have at most 1 property'],
    ['must NOT have more than 5 properties', 'must have at most 5 properties'],
    ['must be string', 'must be a string'],
    ['must match pattern "^a$"', 'must match pattern "^a$"'],
  ] as const)
    t.equal(plainBounds(message), said)
})
