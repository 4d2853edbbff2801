import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('../../../../apps/cli/run.mjs', import.meta.url))
const rules = 50

/** Runs `rules test` on a file of 50 rules and so many tests. @returns how long each process took, its start included, in ms */
export async function measureTests(tests: number, rounds: number): Promise<number[]> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-check-'))
  try {
    const file = join(directory, 'rules.yaml')
    await writeFile(file, writeRuleFile(tests))
    const milliseconds: number[] = []
    for (let round = 0; round < rounds; round++) {
      const begunAt = performance.now()
      const { stdout } = await promisify(execFile)(process.execPath, [
        program,
        ...['admin', 'rules', 'test', file],
      ])
      milliseconds.push(performance.now() - begunAt)
      if (stdout !== `Tests: ${tests} passed, 0 failed.\n`) throw new Error(stdout)
    }
    return milliseconds
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function writeRuleFile(tests: number): string {
  const list = (count: number, write: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => write(n))
  return ['version: 1', 'rules:', ...list(rules, writeRule), 'tests:', ...list(tests, writeTest), ''].join(
    '\n',
  )
}

function writeRule(n: number): string {
  return `  - name: Rule ${n}
    trigger: LEAD_CREATED
    conditions:
      - { field: score, operator: greater_than, value: ${n} }
      - { field: status, operator: equals, value: status ${n} }
    actions:
      - { type: CREATE_TASK, config: { title: 'Call {{name}}' } }
      - { type: SEND_EMAIL, config: { to: '{{email}}', subject: 'Hello {{name}}', template: hello } }`
}

function writeTest(n: number): string {
  return `  - name: lead ${n} is called
    event: { type: LEAD_CREATED, at: 2026-01-05T09:00:00Z, data: { name: Ada ${n}, email: ada@example.com, score: 100, status: status ${n % rules} } }
    expectOnly:
      Rule ${n % rules}: [{ type: CREATE_TASK, config: { title: Call Ada ${n} } }, { type: SEND_EMAIL, config: { to: ada@example.com } }]`
}
