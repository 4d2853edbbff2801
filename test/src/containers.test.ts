import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'

// What can be seen without a container engine. npm run check:containers runs all of it.
const root = new URL('../../../', import.meta.url)
const read = (name: string) => readFile(new URL(name, root), 'utf8')

interface Service {
  image?: string
  logging?: { options?: Record<string, string> }
  mem_limit?: string
  depends_on?: Record<string, { condition: string; required?: boolean }>
  ports?: string[]
  environment?: Record<string, string>
}

const compose = await read('docker-compose.yml')
const services: Record<string, Service> = parse(compose, { merge: true }).services

t.test('without a container engine the check is skipped, and one line says so', async (t) => {
  const script = fileURLToPath(new URL('scripts/check-containers.mjs', root))
  for (const env of [
    { PATH: t.testdir() },
    { PATH: process.env.PATH, DOCKER_HOST: 'tcp://127.0.0.1:1', DOCKER_CONFIG: t.testdir() },
  ]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' })
    t.equal(status, 0)
    t.match(stdout, /^Skipped: there is no container engine with Compose 2 here \(docker version: .+\)\.\n$/)
    t.equal(stderr, '')
  }
})

t.test(
  'docker compose stops mailpit after the workers, which finish their mails, and starts without it',
  async (t) => {
    t.strictSame(services.worker?.depends_on?.mailpit, { condition: 'service_started', required: false })
  },
)

t.test('each process of ours has a limit of memory, and logs without waiting for a disk', async (t) => {
  for (const name of ['migrate', 'api', 'worker', 'board', 'console', 'admin']) {
    t.ok(services[name]?.mem_limit, name)
    t.equal(services[name]?.logging?.options?.mode, 'non-blocking', name)
  }
})

t.test('a build fetches its base image and nothing else, and the image names no port', async (t) => {
  const dockerfile = await read('Dockerfile')
  t.notMatch(dockerfile, /^# *syntax=/m)
  t.notMatch(dockerfile, /^EXPOSE/m)
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name)
  t.strictSame([...new Set(bases)], ['$NODE_IMAGE', 'sources', '$POSTGRES_IMAGE', 'app'])
  t.match(dockerfile, /FROM app\n$/, 'without a target no Postgres is fetched')
  const [, node] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? []
  t.match(node, /^node:24-/)
  t.ok(compose.includes(`\${NODE_IMAGE:-${node}}`), 'docker-compose.yml names the same one')
  const [, postgres] = /^ARG POSTGRES_IMAGE=(\S+)$/m.exec(dockerfile) ?? []
  t.equal(
    services.postgres?.image,
    `\${POSTGRES_IMAGE:-${postgres}}`,
    'the programs of a backup are of the version of the server',
  )
})
