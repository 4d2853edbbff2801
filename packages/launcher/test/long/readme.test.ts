import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { startDemo } from '../fixtures/start-demo.js'

const runFile = promisify(execFile)
const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const readme = await readFile(`${root}README.md`, 'utf8')
const tour = await readFile(`${root}docs/tutorials/tour.md`, 'utf8')

/** What the commands of a section of the tour print. */
const checks: Record<string, (t: Test, printed: string) => void> = {
  'A first rule': (t, printed) => {
    t.match(printed, /"triggered":1,/, 'the event has triggered one rule')
    t.match(printed, /"tasks":\[\{[^\]]*"title":"Call Ada"/)
  },
  'An event type of your own': (t, printed) => {
    t.match(printed, /"triggered":0,/, 'it is an event, and no rule is for it yet')
    t.match(printed, /"path":"carrier"/)
  },
  'Why did it (not) run?': (t, printed) => {
    const [dryRun, triggered, why] = printed.trim().split('\n')
    t.match(JSON.parse(dryRun ?? ''), {
      triggered: 1,
      results: [{ name: 'Hot leads', conditionsPassed: false }],
    })
    t.match(JSON.parse(triggered ?? ''), { results: [{ status: 'not_matched' }] })
    t.match(JSON.parse(why ?? ''), {
      rules: [{ name: 'Hot leads', verdict: 'not_matched', decisive: ['conditions[0]'] }],
    })
  },
  'When a call fails': (t, printed) => {
    const [, triggered, execution, retried] = printed.trim().split('\n')
    t.match(JSON.parse(triggered ?? ''), { triggered: 1, results: [{ conditionsPassed: true }] })
    t.equal(JSON.parse(execution ?? '').results[0].attempts.length, 3)
    t.match(JSON.parse(retried ?? ''), { status: 'accepted' })
  },
  'A first webhook': (t, printed) => {
    t.match(printed, /202 × 1/)
    t.match(printed, /200 × 49/)
    t.match(printed, /401/)
    t.match(printed, /"receiptState":"rejected"|"state":"rejected"/)
  },
  'From programs and a shell': (t, printed) => t.match(printed, /succeeded/),
  'Rules in git': (t, printed) => {
    t.match(printed, /Check: 0 errors/)
    t.match(printed, /Tests: 3 passed, 0 failed.\nCoverage: 2 of 2 results/)
    t.match(
      printed,
      /Backtest of rule "Welcome hot leads" [^\n]*\nMatches: ([1-9]\d*) → \1 \(version 1 → draft\)/,
    )
    t.match(printed, /Rules: 0 to create, 0 to change, 0 to delete, 1 unchanged/)
    t.match(printed, /Wrote 3 rules/)
  },
}

interface Section {
  heading: string
  commands: string
}

function readSections(): Section[] {
  const sections: Section[] = []
  let heading = ''
  for (const [, title, commands = ''] of tour.matchAll(/^#+ (.+)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title
    else sections.push({ heading, commands })
  }
  return sections
}

t.test('README is short', async (t) => {
  t.ok(readme.split('\n').length <= 91)
})

/** A fresh machine may have neither. */
const hasShell = await runFile('bash', ['-c', 'command -v curl']).then(
  () => true,
  () => false,
)
const skip = hasShell ? false : 'bash or curl is not on this machine'
const { path: directory, remove } = await makeTemporaryDirectory()
const scripts = ['admin', 'client', 'webhook'].map((name) => [name, `node ${root}apps/cli/run.mjs ${name}`])
await writeFile(`${directory}/package.json`, JSON.stringify({ scripts: Object.fromEntries(scripts) }))
const { launcher } = await startDemo(`${directory}/.data`, await findFreePort())
t.teardown(async () => {
  launcher.kill('SIGINT')
  await once(launcher, 'exit')
  await remove()
})

async function bash(script: string): Promise<string> {
  const { stdout } = await runFile('bash', ['-eu', '-c', script], {
    cwd: directory,
    env: { ...process.env, DATABASE_URL: '', REDIS_URL: '' },
    maxBuffer: 10_000_000,
  })
  return stdout
}

function readBlocks(language: string): string[] {
  const blocks = readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))
  return [...blocks].map(([, block = '']) => block)
}

t.test('the rule of README is valid', { skip }, async (t) => {
  const [rule = ''] = readBlocks('yaml')
  const entry = rule.trimEnd().replaceAll('\n', '\n    ')
  await writeFile(`${directory}/rules.yaml`, `version: 1\nrules:\n  - ${entry}\n`)
  t.match(await bash('npm run -s client -- rules check rules.yaml'), /0 errors/)
})

t.test('the commands of README print what it says', { skip }, async (t) => {
  const [start, commands = ''] = readBlocks('sh')
  const [expected = ''] = readBlocks('text')
  t.match(start, /^npm start +#/)
  let id = ''
  let printed = ''
  for (const command of commands.trimEnd().split('\n')) {
    printed = await bash(command.replace('<id>', id))
    id = /^Event (\S+) is done/.exec(printed)?.[1] ?? id
  }
  const result = printed
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replace(/(evaluated at ).*$/m, '$1<time>')
  t.equal(result, expected)
})

t.test(
  'every command of the tour succeeds, in its order, and does what the text says',
  { skip },
  async (t) => {
    const sections = readSections()
    t.strictSame(
      sections.map(({ heading }) => heading),
      Object.keys(checks),
    )
    const mark = '=== '
    const script = sections.map(({ heading, commands }) => `echo '${mark}${heading}'\n${commands}`).join('\n')
    const printed = await bash(script)
    for (const part of printed.split(mark).slice(1)) {
      const end = part.indexOf('\n')
      const [heading, text] = [part.slice(0, end), part.slice(end + 1)]
      if (heading !== 'A first webhook') t.notMatch(text, /^\{"errors?":/m, heading)
      t.test(heading, async (t) => checks[heading]?.(t, text))
    }
  },
)
