import { deepStrictEqual } from 'node:assert/strict'
import type { RuleFile } from '@automation/rules'
import fc from 'fast-check'
import t from 'tap'
import { countComments } from '../src/change-yaml.js'
import { changeRuleText, endMark, readRuleText, writeRuleText, writeYaml } from '../src/rule-text.js'
import { anyRuleFile } from './fixtures/any-rules.js'

const rule = (name: string, value: number, more: object = {}) => ({
  name,
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'score', operator: 'greater_than', value }],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
  ...more,
})
const fileOf = (...rules: object[]) => ({ version: 1, rules }) as unknown as RuleFile
const read = (text: string) => readRuleText(text, 'rules.yaml', 'yaml').json

const written = `# Our rules.
# yaml-language-server: $schema=rules.schema.json
version: 1
rules:
  # Sales wants these first.
  - name: A
    trigger: 'LEAD_CREATED'
    conditions:
      # why 80: see ticket 12
      - { field: score, operator: greater_than, value: 80 } # inclusive?

    actions: &call
      - type: CREATE_TASK
        config:
          title: Call
  # Only in spring.
  - name: B
    trigger: LEAD_CREATED
    conditions: [ { field: score, operator: greater_than, value: 0x10 } ]
    actions: *call
tests:
  # the usual one
  - name: hot
    event: { type: LEAD_CREATED, data: { score: 90 } }
    expect: { A: 1 }
...
`
const { tests } = read(written) as { tests: object[] }
const withTests = (...rules: object[]) => ({ ...fileOf(...rules), tests }) as RuleFile
const change = (...rules: object[]) => changeRuleText(written, withTests(...rules)) ?? 'anew'

t.test('the same rules leave a file with comments as it is', async (t) => {
  t.equal(change(rule('A', 80), rule('B', 16)), written)
})

t.test('what differs is changed, and comments, anchors, notation and tests stay', async (t) => {
  t.equal(
    change(rule('A', 85), rule('B', 16, { description: 'x' })),
    written
      .replace('value: 80', 'value: 85')
      .replace('actions: *call\n', 'actions: *call\n    description: x\n'),
  )
})

t.test(
  'comments between empty lines, at the beginning and at the end stay, with the line ends of Windows, too',
  async (t) => {
    const text = `# head

version: 1

# alone

rules:
  - name: A

    # between

    trigger: LEAD_CREATED # behind
    conditions:
      - field: score
        operator: greater_than
        # before a value
        value: 1
    actions:
      - type: CREATE_TASK
        config:
          title: Call

# last
...
`
    const changed = text.replace('value: 1', 'value: 2')
    t.equal(changeRuleText(text, fileOf(rule('A', 2))), changed)
    const ofWindows = (lines: string) => lines.replaceAll('\n', '\r\n')
    t.equal(changeRuleText(ofWindows(text), fileOf(rule('A', 2))), ofWindows(changed))
  },
)

t.test('a comment goes with its rule, and stays with one that was renamed or moved', async (t) => {
  const without = change(rule('B', 16))
  t.strictSame(read(without), withTests(rule('B', 16)))
  t.match(without, /# Only in spring\.\n {2}- name: B/)
  t.notMatch(without, /ticket 12/)
  const renamed = change(rule('B', 16), rule('Z', 80))
  t.match(renamed, /- name: B[\s\S]*- name: Z[\s\S]*# why 80/)
  t.strictSame(read(renamed), withTests(rule('B', 16), rule('Z', 80)))
})

t.test('an anchor that changes for one rule alone changes no other one', async (t) => {
  const actions = [{ type: 'CREATE_TASK', config: { title: 'Write' } }]
  for (const rules of [
    [rule('A', 80, { actions }), rule('B', 16)],
    [rule('A', 80), rule('B', 16, { actions })],
    [rule('A', 80, { actions }), rule('B', 16, { actions })],
  ]) {
    const text = change(...rules)
    t.strictSame(read(text), withTests(...rules))
    t.equal(countComments(text), countComments(written))
  }
})

t.test('items of a list that were added or removed leave the comments of the others', async (t) => {
  const clause = (value: number) => ({ field: 'score', operator: 'greater_than', value })
  for (const conditions of [
    [clause(1), clause(80)],
    [clause(80), clause(1)],
    [clause(1), clause(80), clause(2)],
  ]) {
    const text = change(rule('A', 80, { conditions }), rule('B', 16))
    t.match(text, '# why 80: see ticket 12\n      - { field: score, operator: greater_than, value: 80 }')
    t.strictSame(read(text), withTests(rule('A', 80, { conditions }), rule('B', 16)))
  }
})

t.test('`<<` takes over the fields of an anchor, and goes where a rule differs from it', async (t) => {
  const text = `version: 1
rules:
  - &base
    name: A
    trigger: LEAD_CREATED
    conditions: &conditions [ { field: score, operator: greater_than, value: 1 } ]
    actions: [ { type: CREATE_TASK, config: { title: Call } } ]
  - <<: *base
    name: B # as A
...
`
  t.strictSame(read(text), fileOf(rule('A', 1), rule('B', 1)))
  t.equal(changeRuleText(text, fileOf(rule('A', 1), rule('B', 1))), text)
  const changed = changeRuleText(text, fileOf(rule('A', 1), rule('B', 2))) ?? ''
  t.strictSame(read(changed), fileOf(rule('A', 1), rule('B', 2)))
  t.match(changed, '# as A')
  t.strictSame(read('"<<": 1\n'), { '<<': 1 }, 'in quotes it is a name')
})

t.test('a file without comments is written anew, and so is one that is no file of rules', async (t) => {
  t.equal(changeRuleText('version: 1\nrules: []\n', fileOf()), undefined)
  t.equal(changeRuleText('# only a comment\n', fileOf()), undefined)
  t.equal(changeRuleText('# a\n- 1\n', fileOf()), undefined)
})

t.test('whatever the rules were and are, the file has those that are, and each change is final', async () => {
  const files = anyRuleFile({ minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(files, files, (before, after) => {
      const text = `# kept\n${writeRuleText(before, 'yaml').replaceAll('\n  - name', '\n  # one\n  - name')}`
      const changed = changeRuleText(text, after)
      if (changed === undefined) throw new Error('It was not changed')
      deepStrictEqual(read(changed), JSON.parse(JSON.stringify(after)))
      deepStrictEqual(changeRuleText(changed, after), changed)
    }),
    { numRuns: 15 },
  )
})

t.test('characters that YAML or its other parsers forbid are in quotes, with escapes', async (t) => {
  const texts = [
    'a\tb',
    '=',
    '<<',
    'a\u2028b',
    'a\u2029b',
    'a\u0085b',
    'a\u007fb',
    'a\u009bb\nc',
    '\ufeffa',
    'a\ufffe',
    'a\tb\n',
  ]
  for (const text of texts) {
    const yaml = writeYaml({ [text]: [text] })
    t.notMatch(yaml, /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/, encodeURIComponent(text))
    t.strictSame(read(yaml + endMark), { [text]: [text] })
  }
  for (const text of ['a\tb', '=', '<<', 'a\u2028b'])
    t.match(writeYaml({ description: text }), /^description: ".*"\n$/, encodeURIComponent(text))
})
