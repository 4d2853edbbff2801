import { compileShape, sharedSchemas } from '@automation/engine'
import { RuleToCreate } from '@automation/rules'
import { Ajv } from 'ajv'
import t from 'tap'
import { breakDefinition, readDefinitions } from '../fixtures/broken-definitions.js'
import { createRandom } from '../fixtures/security/random.js'

const random = createRandom(Number.parseInt(process.env.TEST_SEED ?? '1', 16))

t.test('what has no fault is what the JSON schema accepts', async (t) => {
  const ajv = new Ajv({ strict: false, schemas: [...sharedSchemas] })
  const accepts = ajv.compile(RuleToCreate)
  const findFaults = compileShape(RuleToCreate)
  const definitions = readDefinitions()
  t.ok(definitions.length > 30, `${definitions.length} rules`)
  for (const definition of definitions) {
    t.strictSame(findFaults(definition), [])
    t.ok(accepts(definition))
  }
  let refused = 0
  for (let n = 0; n < 5_000; n++) {
    const broken = breakDefinition(random.pick(definitions), random)
    const isAccepted = accepts(broken)
    if (!isAccepted) refused++
    if (isAccepted !== (findFaults(broken).length === 0)) t.fail(JSON.stringify(broken).slice(0, 2_000))
  }
  t.ok(refused > 2_000 && refused < 4_999, `${refused} are refused`)
})
