import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startApi } from '../fixtures/api.js'
import { fuzz } from '../fixtures/security/fuzz.js'
import { readOperations } from '../fixtures/security/operations.js'

// node packages/launcher/dist/src/with-services.js node apps/api/dist/test/security/fuzz.js --requests 50000 --seed 7
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '50000' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? randomInt(2 ** 31))
const requests = Number(values.requests)

const closers: (() => Promise<unknown>)[] = []
const target = await readOperations(() => startApi({ teardown: (close) => closers.push(close) }))
console.log(`seed ${seed}`)
const fuzzed = await fuzz(target, seed, requests)
console.log(`${fuzzed.requests} requests`, fuzzed.byStatus)
for (const fault of fuzzed.faults) console.log(`\n${fault}`)
console.log(`${fuzzed.faults.length} faults`)
process.exitCode = fuzzed.faults.length > 0 ? 1 : 0
for (const close of closers) await close()
