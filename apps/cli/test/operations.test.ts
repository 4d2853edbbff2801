import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OperationName } from '@automation/client'
import { newId } from '@automation/database'
import type { Command } from 'commander'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { ApiDocument } from '../src/api-document.js'
import { addOperation, type Operation } from '../src/client/operation.js'
import { operations } from '../src/client/operations/index.js'
import { createClientProgram } from '../src/create-client-program.js'
import { createProgram } from '../src/program.js'
import { readDocument } from '../src/read-document.js'
import { run } from './fixtures/run.js'
import { startSite } from './fixtures/site.js'

/** Operations without an entry, and why. */
const leftOut: Record<string, OperationName[]> = {
  'a probe': ['GET /healthz', 'GET /readyz'],
  'of providers: npm run webhook': ['POST /api/incoming-webhooks/{provider}/{workspaceId}'],
  'a command that is more than one operation': [
    'GET /api/automation-rules/export',
    'POST /api/automation-rules/import',
    'POST /api/automation-rules/check',
    'PUT /api/automation-rules/{id}/draft',
    'GET /api/automation-rules/{id}/draft',
    'DELETE /api/automation-rules/{id}/draft',
    'POST /api/automation-rules/{id}/draft/promote',
    'GET /api/automation-rules/{id}/guard',
    'DELETE /api/automation-rules/{id}/guard',
    'POST /api/events',
    'GET /api/events/{id}/why',
    'POST /api/executions/{id}/cancel',
    'POST /api/executions/cancel',
  ],
  'another one does the same': [
    'PUT /api/automation-rules/{id}',
    'PATCH /api/automation-rules/{id}/toggle',
    'POST /api/automation-rules/trigger/{eventType}',
    'PUT /api/email-templates/{id}',
  ],
  'for programs that send many': [
    'POST /api/automation-rules/trigger/{eventType}/batch',
    'POST /api/events/batch',
  ],
  'for pages': [
    'GET /api/automation-rules/summaries',
    'GET /api/automation-rules/overview',
    'GET /api/events/samples',
    'GET /api/events/newest',
    'GET /api/developer/v1/embed-sessions/{id}/frame',
    'POST /api/developer/v1/embed-sessions/{id}/open',
  ],
  'a list shows all of it': [
    'GET /api/developer/v1/api-keys/{id}',
    'GET /api/developer/v1/signing-secrets/{id}',
    'GET /api/developer/v1/credentials/{name}',
    'GET /api/developer/v1/subscriptions/{id}',
    'GET /api/developer/v1/members/{userId}',
    'GET /api/developer/v1/workspaces/{id}',
  ],
}

const document = await readDocument<ApiDocument>('openapi.json')

t.test('each operation of the API is a command, or is left out for a reason', async (t) => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const known = [...operations.map(({ operation }) => operation), ...Object.values(leftOut).flat()]
  t.strictSame(known.toSorted(), documented.toSorted(), 'each once')
  const words = operations.map((one) => one.words)
  t.equal(new Set(words).size, words.length)
})

interface Asked {
  line: string
  headers: Record<string, string | string[] | undefined>
  body: unknown
}

/** An API that answers all requests alike, and what it was asked. */
async function startStub(t: Test, answer: object | undefined) {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { method, url, headers } = request
    asked.push({ line: `${method} ${url}`, headers, body: text === '' ? undefined : JSON.parse(text) })
    if (answer === undefined) response.writeHead(204).end()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const RULES_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, env: { RULES_URL, RULES_TOKEN: 'a', RULES_WORKSPACE: '' } }
}

t.test(
  'a new operation is a command by one entry: path, query and body come from its document',
  async (t) => {
    const { asked, env } = await startStub(t, { id: 'b1', title: 'Dune', tags: ['a', 'b'] })
    const book: ApiDocument['paths'][string][string] = {
      summary: 'Change a book',
      parameters: [
        {
          name: 'bookId',
          in: 'path',
          required: true,
          schema: { type: 'string', description: 'Id of the book' },
        },
        { name: 'dryRun', in: 'query', schema: { type: 'boolean' } },
        { name: 'shelf', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
        { name: 'If-Match', in: 'header', schema: { type: 'string' } },
      ],
      requestBody: {
        content: {
          'application/json': {
            schema: {
              properties: {
                title: { type: 'string', description: 'Title of the book. It is on its spine.' },
                keptDays: { type: ['integer', 'null'], minimum: 1 },
                tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
                cover: { type: 'object' },
                text: { type: 'string' },
              },
            },
          },
        },
      },
    }
    const library: ApiDocument = { ...document, paths: { '/books/{bookId}': { patch: book } } }
    const entry: Operation = {
      words: 'change',
      operation: 'PATCH /books/{bookId}' as OperationName,
      arguments: ['title'],
      files: ['text'],
      asks: 'Change {bookId} to {title}?',
    }
    const directory = t.testdir({
      'text.txt': 'It begins\n',
      'book.yaml': 'cover: { color: red }\nkeptDays: 1\n',
    })
    const change = (line: string) => {
      const program = createProgram({ name: 'library', description: 'A library', example: '' })
      addOperation(program, library, entry)
      return run(program, `change ${line}`, directory, env)
    }
    const all = `b1 Dune --dry-run --shelf x --shelf y --kept-days none --tags a,b --body book.yaml --text-file text.txt --etag "3"`
    t.match(await change(`${all} --yes --output yaml`), {
      code: 0,
      output: 'id: b1\ntitle: Dune\ntags:\n  - a\n  - b\n',
      errors: `Target: ${env.RULES_URL}\n`,
    })
    t.match(asked, [
      {
        line: 'PATCH /books/b1?dryRun=true&shelf=x&shelf=y',
        headers: { 'if-match': '"3"' },
        body: { title: 'Dune', keptDays: null, tags: ['a', 'b'], cover: { color: 'red' }, text: 'It begins' },
      },
    ])
    t.match(await change('b1 Dune --yes'), { output: 'id     b1\ntitle  Dune\ntags   a,b\n' })
    t.match(await change('b1 Dune --yes --json'), { output: '{\n  "id": "b1",\n' })
    t.match(await change('b1 Dune'), {
      code: 64,
      errors: 'Use --yes: there is no terminal to ask for confirmation.\n',
    })
    t.match(await change('b1 Dune --yes --kept-days 0'), { code: 64, errors: /must be at least 1/ })
    t.match(await change('b1 Dune --yes --output xml'), {
      code: 64,
      errors: /Allowed choices are text, json, yaml/,
    })
    const { output } = await change('--help')
    t.match(output, /^Change a book\.$/m)
    t.match(output, /^ {2}book-id +id of the book$/m)
    t.match(output, /--tags <values> +separated by commas \(choices: "a", "b"\)/)
  },
)

t.test('an operation that says nothing prints null for programs', async (t) => {
  const { env } = await startStub(t, undefined)
  const id = '01984f6e-5d3c-7a10-9c0e-2b6f4d1a8e77'
  const cancel = `backtests cancel ${id}`
  t.match(await run('client', `${cancel} --json`, '.', env), { code: 0, output: 'null\n' })
  t.match(await run('client', cancel, '.', env), { output: `The backtest ${id} is cancelled.\n` })
})

t.test('a name that would lead to another operation is a wrong command line', async (t) => {
  for (const name of ['', '.', '..']) {
    const found = await run('client', `members remove ${name} --yes`, '.', {})
    t.match(found, { code: 64, output: '', errors: /for argument 'user-id'\. It must be a name\.\n$/ }, name)
  }
})

t.test('a list is read over as many pages as it takes, also as YAML', async (t) => {
  const { openWorkspace } = await startSite()
  const { ask, client, tables, id } = await openWorkspace('.')
  const data = Array.from({ length: 130 }, (_, index) => ({
    id: newId(),
    workspaceId: id,
    name: `Mail ${index}`,
  }))
  await tables.emailTemplate.createMany({ data: data.map((one) => ({ ...one, text: 'x' })) })
  t.equal((await ask<unknown[]>('templates list --limit 120')).length, 120)
  t.equal((await ask<unknown[]>('templates list --limit 1000')).length, 130)
  t.equal(parse((await client('templates list --output yaml')).output).length, 50)
  t.match(await client('me --output json'), { code: 0, output: /"workspaces": \[/ })
})

t.test('the version is asked for in two ways, and --version of a command is its own', async (t) => {
  const { info } = await readDocument<{ info: { version: string } }>('openapi.json')
  for (const line of ['version', '--version'])
    t.match(await run('client', line, t.testdir()), { code: 0, output: `${info.version}\n` })
  t.match(await run('client', 'version --json', t.testdir()), {
    code: 0,
    output: `"version": "${info.version}"`,
  })
  t.match(await run('client', `executions retry ${newId()} --version`, t.testdir()), {
    code: 64,
    errors: /argument missing/,
  })
})

t.test('each entry is a command of the program', async (t) => {
  const program = await createClientProgram()
  for (const { words } of operations) {
    const found = words
      .split(' ')
      .reduce<Command | undefined>(
        (group, word) => group?.commands.find((command) => command.name() === word),
        program,
      )
    t.ok(found, words)
  }
})
