import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const generator = fileURLToPath(new URL('../src/generator/main.js', import.meta.url))

t.test('the types are those of docs/openapi.json', async (t) => {
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})
