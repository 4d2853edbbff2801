import { deepStrictEqual } from 'node:assert/strict'
import { createWorkspace } from '@automation/access'
import { openDatabase } from '@automation/database'
import { applyImport, checkRuleFile, exportRules, planImport, type RuleFile } from '@automation/rules'
import fc from 'fast-check'
import t from 'tap'
import { diffLines } from '../src/diff-lines.js'
import { hasChanges } from '../src/format-plan.js'
import { type RuleFormat, readRuleText, ruleFormats, writeRuleText } from '../src/rule-text.js'
import { anyRuleFile } from './fixtures/any-rules.js'

const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())
const actor = 'cli:tests'
const options = { prune: true }

async function makeWorkspace() {
  const { id } = await createWorkspace({ database, actor }, { name: 'Tests', adminUserId: 'ada' })
  return { database, actor, workspaceId: id }
}
type Administrator = Awaited<ReturnType<typeof makeWorkspace>>

const tablesOf = ({ workspaceId }: Administrator) => database.forWorkspace(workspaceId)

async function plan(administrator: Administrator, file: RuleFile) {
  const planned = await planImport(tablesOf(administrator), file, options)
  if ('faults' in planned) throw new Error(JSON.stringify(planned.faults))
  return planned.plan
}

async function write(administrator: Administrator, format: RuleFormat): Promise<string> {
  return writeRuleText(await exportRules(tablesOf(administrator)), format)
}

function read(text: string, format: RuleFormat): RuleFile {
  const checked = checkRuleFile(readRuleText(text, 'rules', format).json)
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
  return checked.file
}

t.test('what was written reads the same, in either format', (t) => {
  fc.assert(
    fc.property(
      anyRuleFile({ minLength: 1, maxLength: 4 }),
      fc.constantFrom(...ruleFormats),
      (file, format) => {
        deepStrictEqual(read(writeRuleText(file, format), format), file)
      },
    ),
    { numRuns: 100 },
  )
  t.end()
})

t.test(
  'what was exported makes the same rules elsewhere, and changes nothing where it came from',
  async (t) => {
    // Each takes the place of what the one before has left, so changes and deletions have their turn as well.
    const [one, other] = [await makeWorkspace(), await makeWorkspace()]
    await fc.assert(
      fc.asyncProperty(
        anyRuleFile({ minLength: 10, maxLength: 30 }),
        fc.constantFrom(...ruleFormats),
        async (file, format) => {
          await applyImport(one, file, options, await plan(one, file))
          const text = await write(one, format)
          const again = read(text, format)
          t.notOk(hasChanges(await plan(one, again)), 'in its own workspace')
          await applyImport(other, again, options, await plan(other, again))
          t.equal(await write(other, format), text, 'byte by byte')
          t.notOk(hasChanges(await plan(other, file)), 'and as it was meant')
        },
      ),
      { numRuns: 2, endOnFailure: true },
    )
  },
)

t.test(
  'a difference is the first text less what is taken away, and the second what is left and added',
  (t) => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = diffLines(before, after)
        const without = (mark: string) => diff.filter((one) => one.mark !== mark).map(({ line }) => line)
        t.strictSame(without('+'), before)
        t.strictSame(without('-'), after)
        if (before.join() === after.join()) t.ok(diff.every(({ mark }) => mark === ' '))
      }),
    )
    t.end()
  },
)

t.test('a difference is as small as can be, and one block where finding that would take too long', (t) => {
  t.strictSame(
    diffLines(['a', 'b', 'c', 'd'], ['a', 'c', 'x', 'd']).map(({ mark, line }) => mark + line),
    [' a', '-b', ' c', '+x', ' d'],
  )
  const long = (start: number) => Array.from({ length: 3_000 }, (_, index) => `${start + index * 2}`)
  const block = diffLines(['same', ...long(0)], ['same', ...long(1)])
  t.equal(block.length, 6_001)
  t.strictSame([block[0]?.mark, block[1]?.mark, block.at(-1)?.mark], [' ', '-', '+'])
  t.end()
})

t.test('a text that is no file of rules is told with its line, and never half read', (t) => {
  const wrong: [text: string, format: RuleFormat, message: RegExp][] = [
    ['version: 1\nrules: [', 'yaml', /^rules:2: Flow sequence/],
    ['version: 1\nversion: 1\n', 'yaml', /^rules:2: Map keys must be unique\.$/],
    ['a: 1\n---\nb: 1\n', 'yaml', /^rules:2: Source contains multiple documents/],
    ['a: !!binary aGk=', 'yaml', /^rules:1: Unresolved tag/],
    ['a: *nobody', 'yaml', /^rules: Unresolved alias/],
    ['a: [1, .inf]', 'yaml', /is Infinity, and JSON has no such number/],
    ['a: .nan', 'yaml', /is NaN/],
    ['a: {__proto__: 1}', 'yaml', /no key may be __proto__/],
    [
      `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]`,
      'yaml',
      /alias count/,
    ],
    ['{"version": 1,}', 'json', /^rules is no JSON: /],
    ['{"a": 1e999}', 'json', /JSON has no such number/],
    ['', 'json', /^rules is no JSON: /],
  ]
  for (const [text, format, message] of wrong)
    t.throws(() => readRuleText(text, 'rules', format), { message }, JSON.stringify(text.slice(0, 30)))
  t.strictSame(
    readRuleText('a: &a {b: -0}\nc: *a', 'rules', 'yaml').json,
    { a: { b: 0 }, c: { b: 0 } },
    'anchors are fine',
  )
  t.end()
})
