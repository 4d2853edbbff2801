import { readFile } from 'node:fs/promises'
import t from 'tap'
import { startRunningProduct, until } from './fixtures/product.js'

const docs = new URL('../../../docs/', import.meta.url)
const { call, stop, product } = await startRunningProduct({ env: { METRICS_PORT: '0' } })
t.teardown(stop)
const board = await product.startBoard({ BOARD_PASSWORD: 'of-enough-length' })

const rules = '/api/automation-rules'
await call('POST', rules, {
  name: 'Call',
  trigger: 'LEAD_CREATED',
  conditions: [],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
})
for (let count = 0; count < 3; count++) await call('POST', `${rules}/trigger/LEAD_CREATED`, { data: {} })

/** Each series as its name and its labels, in the order of their names. */
type Series = { name: string; labels: Record<string, string>; value: number }

async function scrape({ metricsPort }: { metricsPort: number | undefined }): Promise<Series[]> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return { name, labels: readLabels(labels, '='), value: Number(value) }
    })
}

function readLabels(text: string, operator: string): Record<string, string> {
  const pattern = new RegExp(`(\\w+)${operator}"([^"]*)"`, 'g')
  return Object.fromEntries([...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]))
}

const scrapes = {
  api: await scrape(product.apis[0] ?? board),
  worker: await scrape(product.workers[0] ?? board),
  board: await scrape(board),
}
const all = Object.values(scrapes).flat()

t.test('API, worker and board report their work, and Node reports its resources', async (t) => {
  const sumOf = (series: Series[], name: string) =>
    series.filter((one) => one.name === name).reduce((sum, { value }) => sum + value, 0)
  t.equal(sumOf(scrapes.api, 'automation_events_accepted_total'), 3)
  await until(
    async () => sumOf(await scrape(product.workers[0] ?? board), 'automation_events_done_total') === 3,
  )
  for (const [process, series] of Object.entries(scrapes))
    for (const name of [
      'automation_queue_jobs',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'process_cpu_seconds_total',
    ])
      t.ok(
        series.some((one) => one.name === name),
        `${process} ${name}`,
      )
})

t.test('no label has values that users can create without bound', async (t) => {
  const values = new Map<string, Set<string>>()
  for (const { name, labels } of all)
    for (const [label, value] of Object.entries(labels))
      values.set(`${name} ${label}`, (values.get(`${name} ${label}`) ?? new Set()).add(value))
  t.ok(values.size >= 50, `${values.size} labels`)
  for (const [label, known] of values) {
    t.ok(known.size <= 60, `${label} has ${known.size}`)
    t.notMatch([...known].join(' '), /[0-9a-f]{8}-[0-9a-f]{4}-/, `${label} names no id`)
  }
})

for (const file of ['alerts.yml', 'grafana/automation.json']) {
  t.test(`every series that ${file} queries exists`, async (t) => {
    const text = (await readFile(new URL(file, docs), 'utf8')).replaceAll('\\"', '"')
    const asked = [...text.matchAll(/\b((?:automation|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)]
    t.ok(asked.length >= 20)
    for (const [whole, name = '', selector = ''] of asked) {
      // What Prometheus itself adds to each series.
      const { job: _, instance: __, ...labels } = readLabels(selector, '=')
      t.ok(
        all.some(
          (one) =>
            one.name === name &&
            Object.entries(labels).every(([label, value]) => one.labels[label] === value),
        ),
        whole,
      )
    }
  })
}

t.test('each alert has its entry in the runbook', async (t) => {
  const alerts = [...(await readFile(new URL('alerts.yml', docs), 'utf8')).matchAll(/- alert: (\w+)/g)]
  const runbook = await readFile(new URL('operate/runbook.md', docs), 'utf8')
  t.ok(alerts.length >= 10)
  for (const [, name = ''] of alerts)
    t.match(runbook, new RegExp(`^## ${name} \\((page|ticket)\\)$`, 'm'), name)
})
