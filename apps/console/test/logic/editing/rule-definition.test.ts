import { readFileSync } from 'node:fs'
import t from 'tap'
import { definitionOf, readDefinition } from '../../../pages/logic/rule-definition.js'

const { components } = JSON.parse(
  readFileSync(new URL('../../../../../../docs/openapi.json', import.meta.url), 'utf8'),
)
const propertiesOf = (name: string) => Object.keys(components.schemas[name].properties)

t.test('a definition is what a rule can be saved with, whichever schema it comes from', async (t) => {
  const savable = propertiesOf('RuleToUpdate').filter(
    (name) => !['isActive', 'mode', 'expectEvery'].includes(name),
  )
  for (const schema of ['Rule', 'RuleVersion', 'RuleDraft']) {
    const whole = Object.fromEntries(propertiesOf(schema).map((name) => [name, name]))
    t.strictSame(Object.keys(definitionOf(whole as never)).sort(), savable.sort(), schema)
  }
})

t.test('what the page does not know is not lost by reading JSON', async (t) => {
  const text = JSON.stringify({ name: 'Hot', trigger: 'LEAD_CREATED', group: 'routing', order: 20 })
  t.match(readDefinition(text), {
    name: 'Hot',
    group: 'routing',
    order: 20,
    conditions: { length: 0 },
    actions: { length: 0 },
  })
})
