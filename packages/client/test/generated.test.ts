import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const client = fileURLToPath(new URL('../../', import.meta.url))

t.test('the generated types follow docs/openapi.json', async (t) => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'generate', '--', '--check'], {
    cwd: client,
    encoding: 'utf8',
  })
  t.equal(status, 0, `${stdout}${stderr}: run npm run openapi and commit the result`)
})
