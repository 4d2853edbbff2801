import { execFile, spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { hasShell, readBlocks } from './fixtures/page.js'
import { startWorker } from './fixtures/worker.js'

const run = promisify(execFile)
const directory = t.testdir({ mail: {} })
const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
await startWorker(t, api.config, directory)
const baseUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })

/** A directory with what `npm start` writes for a reader. */
async function makeDemo(name: string): Promise<string> {
  const workspace = await api.makeWorkspace()
  const { body } = await workspace.call<{ key: string }>('POST', '/api/developer/v1/api-keys', {
    body: { name, scopes: ['rules:write'] },
  })
  const demo = join(directory, name)
  await mkdir(join(demo, '.data'), { recursive: true })
  await writeFile(join(demo, '.data/demo.json'), JSON.stringify({ baseUrl, apiKey: body.key }))
  return demo
}

async function readTexts(page: string, language: string): Promise<string[]> {
  const blocks = await readBlocks(`tutorials/${page}.md`)
  return blocks.filter((block) => block.language === language).map(({ text }) => text)
}

t.test('the commands of the quickstart with curl print what it shows', async (t) => {
  if (!(await hasShell())) return t.comment('bash or curl is not on this machine')
  const commands = await readTexts('first-rule-curl', 'sh')
  const { stdout } = await run('bash', ['-euc', commands.join('\n')], { cwd: await makeDemo('curl') })
  const printed = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const shown = (await readTexts('first-rule-curl', 'json')).map((text) => JSON.parse(text))
  t.match(printed[0], { name: 'PARCEL_LATE' })
  t.match(printed[1], { name: 'Call about late parcels', version: 1 })
  const [sent, tasks, why] = shown
  t.match(printed[2], sent)
  t.match(printed[3], tasks)
  t.match(printed[4], why)
})

const programs = [
  { page: 'first-rule-node', language: 'js', program: process.execPath, args: ['first-rule.mjs'] },
  { page: 'first-rule-python', language: 'python', program: 'python3', args: ['first_rule.py'] },
  { page: 'first-rule-go', language: 'go', program: 'go', args: ['run', 'first_rule.go'] },
]

for (const { page, language, program, args } of programs)
  t.test(`the program of ${page} prints what it shows`, async (t) => {
    const version = program === 'go' ? 'version' : '--version'
    if (spawnSync(program, [version]).status !== 0) return t.comment(`${program} is not on this machine`)
    const demo = await makeDemo(page)
    const [source = ''] = await readTexts(page, language)
    await writeFile(join(demo, args.at(-1) ?? ''), source)
    const { stdout } = await run(program, args, { cwd: demo })
    const [matched, why] = stdout.trim().split('\n')
    t.equal(matched, '1 of 1 rules matched')
    t.equal(why, (await readTexts(page, 'text'))[0]?.trim())
  })

t.test('the quickstart of the console names what the console shows', async (t) => {
  const page = await readFile(
    new URL('../../../../docs/tutorials/first-rule-console.md', import.meta.url),
    'utf8',
  )
  const pages = fileURLToPath(new URL('../../../console/pages', import.meta.url))
  const names = (await readdir(pages, { recursive: true })).filter((name) => /\.tsx?$/.test(name))
  const source = (await Promise.all(names.map((name) => readFile(join(pages, name), 'utf8')))).join('\n')
  const labels = [...page.matchAll(/\*\*([^*]+)\*\*/g)].map(([, label = '']) => label)
  t.ok(labels.length >= 4)
  for (const label of labels) t.ok(source.includes(label), label)
})
