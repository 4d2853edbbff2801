import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '@automation/launcher'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'

const runFile = promisify(execFile)
const script = fileURLToPath(new URL('../../../../scripts/artefacts.mjs', import.meta.url))
const rule = (field: string) => ({
  name: 'Hot leads',
  trigger: 'LEAD_CREATED',
  conditions: [
    { field, operator: 'greater_than', value: 80 },
    { field: 'score', operator: 'less_than', value: 10 },
  ],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
})
const fileOf = (field: string) => JSON.stringify({ version: 1, rules: [rule(field)] })

t.test('client and command line install offline in an empty directory, and run there', async (t) => {
  const { path, remove } = await makeTemporaryDirectory()
  t.teardown(remove)
  const stale = fileURLToPath(new URL('../../../../packages/client/dist/src/gone.js', import.meta.url))
  await writeFile(stale, '')
  t.teardown(() => rm(stale))
  const { stdout } = await runFile(process.execPath, [script, `${path}/artefacts`, '--no-image'])
  const files = stdout.trim().split('\n')
  t.match(files, [/automation-client-\d+\.\d+\.\d+\.tgz$/, /automation-cli-\d+\.\d+\.\d+\.tgz$/])
  for (const [index, line] of (await readFile(`${path}/artefacts/SHA256SUMS`, 'utf8'))
    .trim()
    .split('\n')
    .entries())
    t.equal(
      line.split(' ')[0],
      createHash('sha256')
        .update(await readFile(files[index] ?? ''))
        .digest('hex'),
    )

  const cwd = `${path}/empty`
  await writeFile(`${path}/package.json`, '{}')
  const { stdout: packed } = await runFile('tar', ['-tf', files[0] ?? ''])
  t.match(packed, 'package/dist/src/index.js')
  t.notMatch(packed, 'gone', 'what the compiler has made of a removed source')
  await runFile('npm', ['install', '--prefix', cwd, '--offline', '--no-audit', '--no-fund', ...files])
  const api = createServer(({ headers }, response) => {
    t.equal(headers.authorization, 'Bearer ark_x')
    response.setHeader('content-type', 'application/json').end('{"rules":[],"nextCursor":null}')
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  t.teardown(() => api.close())
  const env = {
    ...process.env,
    RULES_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    RULES_TOKEN: 'ark_x',
  }
  const command = `${cwd}/node_modules/.bin/automation`
  const automation = (...args: string[]) =>
    runFile(command, args, { cwd, env }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    )

  // What checks files must import nothing of the database, so packages/rules keeps its faults and its statements in files of their own.
  t.match(await automation('--help'), {
    code: 0,
    stdout: /^Usage: automation .*[\s\S]*\n {2}rules [\s\S]*\n {2}mcp /,
  })
  await writeFile(`${cwd}/good.json`, fileOf('reach'))
  await writeFile(`${cwd}/bad.json`, fileOf('score'))
  t.match(await automation('rules', 'check', 'good.json'), { code: 0 })
  t.match(await automation('rules', 'check', 'bad.json'), { code: 1, stdout: /error never_matches: / })
  t.match(await automation('rules', 'list'), { code: 0, stdout: 'None.\n' })
  t.match(await automation('completion', 'bash'), {
    code: 0,
    stdout: /complete .* _automation automation\n$/,
  })
  const program = `import { createClient } from '@automation/client'
console.log(await createClient({ baseUrl: process.env.RULES_URL, apiKey: 'ark_x' }).rules.list())`
  await writeFile(`${cwd}/program.mjs`, program)
  t.match((await runFile(process.execPath, ['program.mjs'], { cwd, env })).stdout, 'rules: []')

  const assistant = new Client({ name: 'test', version: '1.0.0' })
  const { RULES_URL, RULES_TOKEN } = env
  const own = { PATH: process.env.PATH ?? '', RULES_URL, RULES_TOKEN }
  await assistant.connect(new StdioClientTransport({ command, args: ['mcp'], env: own, cwd }))
  t.teardown(() => assistant.close())
  t.match(await assistant.callTool({ name: 'list_rules', arguments: {} }), {
    content: [{}, { text: '{"rules":[],"nextCursor":null}' }],
  })
  t.match(await assistant.callTool({ name: 'rule_schema', arguments: {} }), {
    content: [{}, { text: /"tests"/ }],
  })
})
