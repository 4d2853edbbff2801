import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'

const root = new URL('../../../', import.meta.url).pathname

/** A room may import the rooms after it. `*` are the files and folders that have no name here; they may import each other. */
const orders = {
  'apps/api/src':
    'server.ts openapi-document.ts docs-site.ts app.ts limits.ts routes plugins lists evaluation acceptance openapi docs access vocabulary admission.ts api-metrics.ts rate-limit *',
  'apps/worker/src':
    'main.ts probes.ts worker.ts repair retention backtests running calls executions admission.ts effects worker-metrics.ts *',
  'apps/console/src': 'server.ts app.ts frames hand-on sign-in guard *',
  'apps/console/pages':
    'main.tsx app.tsx embed parts-page.tsx shell.tsx palette.tsx navigation.tsx keys.tsx later-screens.tsx screens parts places.ts state logic',
  'apps/cli/src':
    'admin.ts automation.ts client.ts webhook.ts write-command-page.ts command-page.ts create-admin.ts create-client-program.ts create-webhook.ts commands mcp client *',
  'packages/engine/src':
    'index.ts vocabulary.ts limits.ts warnings explaining checked-rule.ts planning per-key faults conditions configs shape rule.ts actions event-types.ts templates hours schedule filters results operators *',
  'packages/ledger/src':
    'index.ts moving reconciliation by-hand erasure leaves removal silences keys outcomes acceptance schedules unfinished counters *',
  'packages/launcher/src':
    'index.ts start.ts with-services.ts demo product servers open-browser.ts binaries *',
}
const packages =
  'launcher rules queue access check backtest rule-tests history ledger database webhooks engine admission process client'

for (const [place, order] of Object.entries(orders))
  t.test(`the rooms of ${place} import in one direction`, async (t) => {
    const rooms = order.split(' ')
    const roomOf = (file: string) => {
      const room = file.split('/')[0] as string
      return rooms.includes(room) ? room : '*'
    }
    const upwards: string[] = []
    let count = 0
    for (const [from, to] of await listImports(join(root, place))) {
      const [importing, imported] = [roomOf(from), roomOf(to)]
      if (importing !== imported) count++
      if (rooms.indexOf(imported) < rooms.indexOf(importing)) upwards.push(`${from} imports ${to}`)
    }
    t.ok(count > 10, 'imports are found')
    t.strictSame(upwards, [])
  })

t.test('packages depend on each other in one direction', async (t) => {
  const order = packages.split(' ')
  // A package that was deleted leaves what it compiled behind.
  const names = (await readdir(join(root, 'packages'))).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  )
  t.strictSame(names.sort(), [...order].sort())
  for (const [rank, name] of order.entries()) {
    const { dependencies } = JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8'))
    const ours = Object.keys(dependencies ?? {}).flatMap((one) => one.split('@automation/')[1] ?? [])
    t.strictSame(
      ours.filter((one) => order.indexOf(one) <= rank),
      [],
      name,
    )
  }
})

/** Of types, too. Both paths are relative to the directory. */
async function listImports(directory: string): Promise<[from: string, to: string][]> {
  const names = await readdir(directory, { recursive: true })
  const files = names.filter((name) => /\.tsx?$/.test(name) && !name.includes('generated/'))
  const lists = await Promise.all(
    files.map(async (from) => {
      const text = await readFile(join(directory, from), 'utf8')
      const found = text.matchAll(/(?:from |import |import\()'(\.[^']+)\.js'/g)
      return [...found].map(([, path = '']) => {
        const to = join(dirname(from), path)
        return [from, files.find((file) => file.replace(/\.tsx?$/, '') === to) ?? to] as [string, string]
      })
    }),
  )
  return lists.flat()
}
