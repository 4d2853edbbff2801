import { deepStrictEqual } from 'node:assert/strict'
import { createWorkspace } from '@automation/access'
import { openPatiently } from '@automation/database'
import {
  checkRuleFile,
  exportRules,
  importRules,
  type PlannedImport,
  planImport,
  presentPlan,
  type RuleFile,
} from '@automation/rules'
import fc from 'fast-check'
import t from 'tap'
import { formatDiff } from '../src/format-diff.js'
import { hasChanges } from '../src/format-plan.js'
import { type RuleFormat, readRuleText, ruleFormats, writeRuleText, writeYaml } from '../src/rule-text.js'
import { anyRuleFile } from './fixtures/any-rules.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
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
  return takePlan(await planImport(tablesOf(administrator), file, options))
}

function takePlan(planned: PlannedImport) {
  if ('faults' in planned) throw new Error(JSON.stringify(planned.faults))
  return planned.plan
}

async function write(administrator: Administrator, format: RuleFormat): Promise<string> {
  return writeRuleText(await exportRules(tablesOf(administrator)), format)
}

const textOf = (lines: string[]) => lines.map((line) => `${line}\n`).join('')

function read(text: string, format: RuleFormat): RuleFile {
  const checked = checkRuleFile(readRuleText(text, 'rules', format).json)
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
  return checked.file
}

t.test('a written rule file reads the same in either format', (t) => {
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

t.test('a text of blanks and line breaks stays as it is', (t) => {
  const blank = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\r', '\u00a0', 'a'), maxLength: 6 })
  fc.assert(
    fc.property(blank, blank, (key, text) => {
      const value = { [key]: text, list: [text, { [key]: [text] }] }
      deepStrictEqual(readRuleText(writeYaml(value), 'rules', 'yaml').json, value)
    }),
    { numRuns: 2_000, examples: [['', '  \n']] },
  )
  t.end()
})

t.test('no beginning of a written rule file passes for the whole file', (t) => {
  const isWhole = (text: string, format: RuleFormat) => {
    try {
      return readRuleText(text, 'rules', format).isWhole
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(
      anyRuleFile({ minLength: 1, maxLength: 4 }),
      fc.constantFrom(...ruleFormats),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (file, format, part) => {
        const text = writeRuleText(file, format)
        t.ok(isWhole(text, format))
        // Only the last line break may be missing.
        const end = Math.floor(part * (text.length - 2))
        for (const cut of [end, text.length - 2, text.lastIndexOf('\n', end) + 1])
          if (isWhole(text.slice(0, cut), format)) throw new Error(`${cut} of ${text.length} pass`)
      },
    ),
    { numRuns: 300 },
  )
  t.end()
})

t.test('an export creates the same rules in another workspace, and changes nothing in its own', async (t) => {
  // Each file replaces the rules of the one before, so changes and deletions occur as well.
  const [one, other] = [await makeWorkspace(), await makeWorkspace()]
  await fc.assert(
    fc.asyncProperty(
      anyRuleFile({ minLength: 10, maxLength: 30 }),
      fc.constantFrom(...ruleFormats),
      async (file, format) => {
        await importRules(one, file, options, takePlan)
        const text = await write(one, format)
        const again = read(text, format)
        t.notOk(hasChanges(presentPlan(await plan(one, again))), 'in its own workspace')
        await importRules(other, again, options, takePlan)
        t.equal(await write(other, format), text, 'byte by byte')
        t.notOk(hasChanges(presentPlan(await plan(other, file))), 'and equal to the original file')
      },
    ),
    { numRuns: 2, endOnFailure: true },
  )
})

t.test('a diff without its added lines is the first text, and without its removed lines the second', (t) => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = formatDiff(textOf(['first', ...before]), textOf(['first', ...after]), 100)
      const without = (mark: string) =>
        diff.filter((line) => !line.startsWith(mark)).map((line) => line.slice(1))
      if (before.join() === after.join())
        return t.strictSame(diff, before.length === 0 ? [' first'] : [' first', ' …'])
      t.strictSame(without('+'), ['first', ...before])
      t.strictSame(without('-'), ['first', ...after])
    }),
  )
  t.end()
})

t.test('a diff is minimal, or one block if the search would take too long', (t) => {
  t.strictSame(formatDiff('a\nb\nc\nd\n', 'a\nc\nx\nd\n'), [' a', '-b', ' c', '+x', ' d'])
  const long = (start: number) => Array.from({ length: 3_000 }, (_, index) => `${start + index * 2}`)
  const block = formatDiff(textOf(long(0)), textOf(long(1)))
  t.strictSame(block, [...long(0).map((line) => `-${line}`), ...long(1).map((line) => `+${line}`)])
  const changed = long(0).with(1_000, 'x')
  t.equal(
    formatDiff(textOf(long(0)), textOf(changed)).length,
    1 + 1 + 3 + 2 + 3 + 1,
    'one change in a long text',
  )
  t.end()
})

t.test('a diff shows the first line and three lines around each change', (t) => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index}`)
  const diff = formatDiff(textOf(lines), textOf(lines.with(10, 'x').with(20, 'y')))
  const around = (from: number, to: number) => lines.slice(from, to).map((line) => ` ${line}`)
  t.strictSame(diff, [
    ' 0',
    ' …',
    ...around(7, 10),
    '-10',
    '+x',
    ...around(11, 14),
    ' …',
    ...around(17, 20),
    '-20',
    '+y',
    ...around(21, 24),
    ' …',
  ])
  t.strictSame(formatDiff(textOf(lines), textOf(['x', ...lines])), ['+x', ...around(0, 3), ' …'])
  t.end()
})

t.test(
  'a number with more digits than a double keeps is found in each format, and becomes a text in tests',
  (t) => {
    const yaml = `version: 1
rules:
  - conditions: [{ value: 8202522731445525542 }, { value: [1, 12345678901234567.89] }, { value: 0xFFFFFFFFFFFFFFFF }]
    8202522731445525542: 9007199254740991
tests:
  - event: { data: { id: 8202522731445525542, few: 0.1, same: &a 1.2345678901234567891e5, again: *a, hex: 0x10 } }
`
    const read = readRuleText(yaml, 'rules', 'yaml')
    const { conditions, ...others } = (read.json as { rules: Record<string, unknown>[] }).rules[0] ?? {}
    t.strictSame(others, { '8202522731445525542': 9007199254740991 })
    t.strictSame(conditions, [
      { value: 8202522731445526000 },
      { value: [1, 12345678901234568] },
      { value: 2 ** 64 },
    ])
    t.match(read.json, {
      tests: [
        {
          event: {
            data: {
              id: '8202522731445525542',
              few: 0.1,
              same: '1.2345678901234567891e5',
              again: '1.2345678901234567891e5',
              hex: 16,
            },
          },
        },
      ],
    })
    const fields = read.longNumbers.map(({ field, isText }) => [field, isText, read.findLine(field)])
    t.strictSame(fields.sort(), [
      ['rules[0].conditions[0].value', false, 3],
      ['rules[0].conditions[1].value[1]', false, 3],
      ['rules[0].conditions[2].value', false, 3],
      ['tests[0].event.data.again', true, 6],
      ['tests[0].event.data.id', true, 6],
      ['tests[0].event.data.same', true, 6],
    ])
    const json = readRuleText(
      '{"rules":[{"a":8202522731445525542}],"tests":[{"a":8202522731445525542}]}',
      'r',
      'json',
    )
    t.strictSame(json.json, { rules: [{ a: 8202522731445526000 }], tests: [{ a: '8202522731445525542' }] })
    t.equal(json.longNumbers.length, 2)
    t.end()
  },
)

t.test('an invalid rule file is reported with its line, and nothing of it is read', (t) => {
  const wrong: [text: string, format: RuleFormat, message: RegExp][] = [
    ['version: 1\nrules: [', 'yaml', /^rules:2: Flow sequence/],
    ['version: 1\nversion: 1\n', 'yaml', /^rules:2: Map keys must be unique\.$/],
    ['a: 1\n---\nb: 1\n', 'yaml', /^rules:2: A second document begins here \(---\)/],
    ['a: !!binary aGk=', 'yaml', /^rules:1: Unresolved tag/],
    ['rules: &a [*a]', 'yaml', /^rules: an anchor contains itself, which JSON cannot represent\.$/],
    ['a: *nobody', 'yaml', /^rules: Unresolved alias/],
    ['a: [1, .inf]', 'yaml', /is Infinity, which JSON cannot represent/],
    ['a: .nan', 'yaml', /is NaN/],
    ['a: {__proto__: 1}', 'yaml', /__proto__ is not allowed as a key/],
    [
      `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]`,
      'yaml',
      /alias count/,
    ],
    ['{"version": 1,}', 'json', /^rules is not valid JSON: /],
    ['{"a": 1e999}', 'json', /which JSON cannot represent/],
    ['', 'json', /^rules is not valid JSON: /],
  ]
  for (const [text, format, message] of wrong)
    t.throws(() => readRuleText(text, 'rules', format), { message }, JSON.stringify(text.slice(0, 30)))
  t.strictSame(
    readRuleText('a: &a {b: -0}\nc: *a', 'rules', 'yaml').json,
    { a: { b: 0 }, c: { b: 0 } },
    'anchors are allowed',
  )
  t.end()
})
