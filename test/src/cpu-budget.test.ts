import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'

const scripts = new URL('../../../scripts/', import.meta.url)
const { findDearer, measureUnit, renew, toUnits } = await import(new URL('cpu-budget.mjs', scripts).href)
const list = { whole: 1_000, files: { 'a.test.ts': 100, 'b.test.ts': 10, 'gone.test.ts': 7 } }

t.test('a file is named above one and a half of its entry, the whole run above 1.2', async (t) => {
  const at = { whole: 1_200, files: { 'a.test.ts': 150, 'b.test.ts': 15 } }
  t.strictSame(findDearer(at, list), [])
  const above = { whole: 1_201, files: { 'a.test.ts': 151, 'b.test.ts': 15.1, 'gone.test.ts': 7 } }
  t.strictSame(findDearer(above, list), [
    '  1201 for 1000  all',
    '   151 for 100  a.test.ts',
    '    15 for 10  b.test.ts',
  ])
})

t.test('a file without an entry is named as new, and none that uses little', async (t) => {
  const run = { whole: 1, files: { 'little.test.ts': 3, 'new.test.ts': 3.1 } }
  t.strictSame(findDearer(run, list), ['     3 for a new file  new.test.ts'])
  t.strictSame(findDearer(run, { files: {} }), ['     3 for a new file  new.test.ts'], 'without any list')
})

t.test('a renewed list changes the entries that are wrong, and no other', async (t) => {
  const run = {
    whole: 1_100,
    files: { 'a.test.ts': 151, 'b.test.ts': 12, 'c.test.ts': 2.4, 'd.test.ts': 1.4 },
  }
  const files = { 'a.test.ts': 151, 'b.test.ts': 10, 'c.test.ts': 2 }
  t.strictSame(renew(run, list, false), { whole: 1_000, files })
  t.strictSame(renew(run, list, true), { whole: 1_100, files: { ...files, 'b.test.ts': 12 } })
  const cheaper = { whole: 800, files: { 'a.test.ts': 66, 'b.test.ts': 7, 'gone.test.ts': 1 } }
  t.strictSame(renew(cheaper, list, false), { whole: 800, files: { 'a.test.ts': 66, 'b.test.ts': 10 } })
})

t.test('units are those of the machine, and files have the names of their sources', async (t) => {
  const files = [
    { name: 'test/dist/src/storm.test.js', seconds: 30 },
    { name: 'apps/api/dist/test/run.test.js', seconds: 1.26 },
  ]
  t.strictSame(toUnits({ files, seconds: 60, unit: 0.5 }), {
    whole: 120,
    files: { 'apps/api/test/run.test.ts': 2.5, 'test/src/storm.test.ts': 60 },
  })
  const unit = measureUnit()
  t.ok(unit > 0.05 && unit < 20, `${unit} s`)
})

t.test('a whole run shows the units of each file, what is above its list, and stays green', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'cpu-budget-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const { TEST_CPU_FILE, TEST_CPU_UNIT } = process.env
  const before = { TEST_CPU_FILE, TEST_CPU_UNIT }
  t.teardown(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
  process.env.TEST_CPU_FILE = join(directory, 'cpu')
  process.env.TEST_CPU_UNIT = '0.5'
  await writeFile(process.env.TEST_CPU_FILE, 'apps/api/dist/test/no-such.test.js\t5000\n')
  const { default: Report } = await import(new URL('report.mjs', scripts).href)
  const report = new Report()
  report.end('ok 1 - apps/api/dist/test/no-such.test.js # time=12.5ms\n')
  const shown = await text(report)
  t.match(shown, 'no-such.test.js # time=12.5ms cpu=10000.0\n')
  t.match(shown, /units of CPU, of 0\.50 s before the run and [\d.]+ s after it\n/)
  t.match(
    shown,
    /More than test\/cpu-budget\.json allows, in units:\n(.*all\n)? +\d+ for a new file {2}apps\/api\/test\/no-such\.test\.ts/,
  )
  t.notMatch(shown, /Failed|In short/)
})

/** The last lines of a report. @param lines as tap writes them, of a run of several files */
async function readInShort(lines: readonly string[]): Promise<string[]> {
  const { default: Report } = await import(new URL('report.mjs', scripts).href)
  const report = new Report()
  report.end([...lines, ''].join('\n'))
  const [, inShort] = (await text(report)).split('In short:\n')
  return inShort?.trimEnd().split('\n') ?? []
}

t.test('the last lines say what failed, where, and how it differs from what was expected', async (t) => {
  const inShort = await readInShort([
    '    # Subtest: it adds',
    '        not ok 1 - should be equivalent strictly',
    '          ---',
    '          diff: |',
    '            --- expected',
    '            +++ actual',
    '            @@ -1,1 +1,3 @@',
    '            -Array []',
    '            +Array [',
    '            +  "Failed to load",',
    '            +]',
    '          at:',
    '            fileName: apps/api/test/adds.test.ts',
    '            lineNumber: 3',
    '            generated:',
    '              fileName: apps/api/dist/test/adds.test.js',
    '              lineNumber: 2',
    '          source: |',
    '            -t.strictSame(complaints, [])',
    '          ...',
    '        not ok 2 - should be equal',
    '          ---',
    '          diff: >',
    '            @@ -1,1 +1,1 @@',
    '',
    '            -a text so long that it is folded',
    '            into two lines',
    '          at:',
    '            fileName: apps/api/test/adds.test.ts',
    '            lineNumber: 4',
    '          ...',
    '    not ok 1 - it adds # time=3ms',
    '      ---',
    '      at:',
    '        fileName: apps/api/test/adds.test.ts',
    '        lineNumber: 1',
    '      ...',
    'not ok 1 - apps/api/dist/test/adds.test.js # time=12ms',
    '  ---',
    '  exitCode: 1',
    '  signal: null',
    '  ...',
  ])
  t.same(inShort, [
    'not ok 1 - apps/api/dist/test/adds.test.js # time=12ms',
    '        not ok 1 - should be equivalent strictly',
    '            at apps/api/test/adds.test.ts:3',
    '            -Array []',
    '            +Array [',
    '            +  "Failed to load",',
    '            +]',
    '        not ok 2 - should be equal',
    '            at apps/api/test/adds.test.ts:4',
    '            -a text so long that it is folded',
    '            into two lines',
    '    not ok 1 - it adds # time=3ms',
  ])
})

t.test(
  'so does an assertion of a test within a test, one without a difference, and the end of a process',
  async (t) => {
    const inShort = await readInShort([
      '            not ok 1 - should not match pattern',
      '              ---',
      '              found: abc',
      '              doNotWant: !re /a/',
      '              at:',
      '                fileName: apps/api/test/deep.test.ts',
      '                lineNumber: 5',
      '              ...',
      '        not ok 1 - inner # time=1ms',
      '          ---',
      '          at:',
      '            fileName: apps/api/test/deep.test.ts',
      '            lineNumber: 4',
      '          ...',
      '    not ok 1 - outer # time=2ms',
      '    not ok 2 - it never ends',
      '      ---',
      '      at:',
      '        fileName: apps/api/test/deep.test.ts',
      '        lineNumber: 9',
      '      ...',
      'not ok 1 - apps/api/dist/test/deep.test.js # time=12ms',
      'not ok 2 - apps/api/dist/test/killed.test.js # time=12ms',
      '  ---',
      '  exitCode: null',
      '  signal: SIGKILL',
      '  ...',
      'ok 3 - apps/api/dist/test/fine.test.js # time=12ms',
    ])
    t.same(inShort, [
      'not ok 1 - apps/api/dist/test/deep.test.js # time=12ms',
      '            not ok 1 - should not match pattern',
      '                at apps/api/test/deep.test.ts:5',
      '                found: abc',
      '                doNotWant: !re /a/',
      '        not ok 1 - inner # time=1ms',
      '    not ok 1 - outer # time=2ms',
      '    not ok 2 - it never ends',
      '        at apps/api/test/deep.test.ts:9',
      'not ok 2 - apps/api/dist/test/killed.test.js # time=12ms',
      '    signal: SIGKILL',
    ])
  },
)

t.test('the last lines are forty at most: names and places come before differences', async (t) => {
  const fail = (assertions: number) => [
    ...Array.from({ length: assertions }, (_, index) => [
      `        not ok ${index + 1} - ${'word '.repeat(100)}`,
      '          ---',
      '          diff: |',
      ...Array.from({ length: 30 }, (_, line) => `            +${line}`),
      '          at:',
      '            fileName: a.test.ts',
      `            lineNumber: ${index + 1}`,
      '          ...',
    ]).flat(),
    '    not ok 1 - it adds # time=3ms',
    'not ok 1 - apps/api/dist/test/adds.test.js # time=12ms',
  ]
  const one = await readInShort(fail(1))
  t.equal(one.length, 16, 'twelve lines of a difference')
  t.ok(one.every((line) => line.length < 250))
  const some = await readInShort(fail(10))
  t.equal(some.filter((line) => /^ {12}at a\.test\.ts:/.test(line)).length, 10)
  t.equal(some.filter((line) => /^ {12}\+/.test(line)).length, 10, 'a line of each difference')
  const many = await readInShort(fail(100))
  t.equal(many.length, 40)
  t.match(many.at(-1), /^… and 163 lines more, above$/)
})
