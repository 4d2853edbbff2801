import { readdir, readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import t from 'tap'
import { parse } from 'yaml'

// The settings of an app are in its config.ts. .env.example and docker-compose.yml must contain the same ones.
const root = new URL('../../../', import.meta.url)

type Settings = Record<string, { default?: unknown; type?: string; description?: string }>

interface Compose {
  services: Record<string, { environment?: Record<string, unknown>; [key: string]: unknown }>
}

async function readSettings(app: string): Promise<Settings> {
  const { Environment } = await import(new URL(`apps/${app}/dist/src/config.js`, root).href)
  return Environment.properties
}

const apps = {
  api: await readSettings('api'),
  worker: await readSettings('worker'),
  board: await readSettings('board'),
  console: await readSettings('console'),
}
const example = await readFile(new URL('.env.example', root), 'utf8')
const compose: Compose = parse(await readFile(new URL('docker-compose.yml', root), 'utf8'), { merge: true })

/** As it stands, and with what is commented out: name, value and what is said of it. */
const lines = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=(.*?)(?: +# (.*))?$/gm)].map(
  ([, name = '', value = '', text]) => ({ name, value: value.trim(), text }),
)
const { consoleSettings } = await import(new URL('packages/process/dist/src/settings/index.js', root).href)
/** `admin console link` runs in the container of the API, which has JWT_SECRET. */
const ofCommandLine: Record<string, string[]> = { api: ['CONSOLE_SECRET'] }
const ofCommands = ['WEBHOOK_SECRET', 'RULES_URL', 'RULES_TOKEN', 'RULES_WORKSPACE']
const ofLauncher = ['AUTO_INSTALL']
/** OpenTelemetry reads these by itself. */
const byStandard = lines.map(({ name }) => name).filter((name) => name.startsWith('OTEL_'))
const ofCompose = [...new Set(JSON.stringify(compose).match(/(?<=\$\{)[A-Z_]+/g))].concat('COMPOSE_PROFILES')

t.test('.env.example has each setting once, and no other', async (t) => {
  const wanted = new Set([...Object.values(apps).flatMap(Object.keys), ...byStandard, ...ofCompose])
  t.strictSame(lines.map(({ name }) => name).sort(), [...wanted].sort())
})

t.test('there are 47 settings at most, and a guide for operators names each of them', async (t) => {
  const operate = (await readdir(new URL('docs/operate', root))).map((name) => `operate/${name}`)
  const guides = await Promise.all(
    [...operate, 'reference/command-line.md'].map((name) => readFile(new URL(`docs/${name}`, root), 'utf8')),
  )
  const own = new Set([...Object.values(apps).flatMap(Object.keys), ...ofLauncher, ...ofCommands])
  const settings = [...own].filter((name) => !name.startsWith('OTEL_'))
  t.ok(settings.length <= 47, `${settings.length}: ${settings.join(' ')}`)
  for (const name of settings) t.ok(new RegExp(`\\b${name}\\b`).test(guides.join('\n')), name)
})

t.test('.env.example says of each setting what it is, and its default to the letter', async (t) => {
  for (const { name, value, text } of lines) {
    if (!name.endsWith('_MEMORY')) t.ok(text, `${name} is described`)
    t.ok(value, `${name}: nothing would make a value of the comment, where docker compose reads it`)
    const [app] = Object.values(apps).filter((settings) => name in settings)
    const usual = app?.[name]?.default
    if (usual !== undefined) t.equal(value.replaceAll('"', ''), String(usual), name)
  }
})

t.test('a line that is no longer commented out is read as it stands', async (t) => {
  const everything = parseEnv(example.replaceAll(/^# (?=[A-Z][A-Z0-9_]+=)/gm, ''))
  t.same(everything, Object.fromEntries(lines.map(({ name, value }) => [name, value.replaceAll('"', '')])))
  const secrets = {
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    JWKS_URL: '',
    JWT_SECRET: 'a secret of tests with more than 32 characters',
    BOARD_PASSWORD: 'a password of tests',
    CONSOLE_SECRET: 'a secret of tests with more than 32 characters',
  }
  const lists = {
    ENCRYPTION_KEY: `${Buffer.alloc(32, 'next').toString('base64')},${secrets.ENCRYPTION_KEY}`,
    JWT_SECRET: `the next ${secrets.JWT_SECRET},${secrets.JWT_SECRET}`,
  }
  for (const app of Object.keys(apps)) {
    const { readConfig } = await import(new URL(`apps/${app}/dist/src/config.js`, root).href)
    t.ok(readConfig({ ...everything, ...secrets }), app)
    t.ok(readConfig({ ...everything, ...secrets, ...lists }), `${app}, while keys are rotated`)
    t.throws(() => readConfig(parseEnv(example)), { name: 'EnvironmentError' }, 'secrets have no default')
  }
})

t.test('docker-compose.yml hands each setting of a process on, and no other', async (t) => {
  for (const [app, settings] of Object.entries(apps)) {
    const given = Object.keys(compose.services[app]?.environment ?? {})
    const others = given.filter((name) => !(name in settings))
    t.strictSame(
      others.filter((name) => !byStandard.includes(name)).sort(),
      (ofCommandLine[app] ?? []).sort(),
      `${app} knows all that it is given, or its command line does`,
    )
    const missing = Object.keys(settings).filter((name) => !given.includes(name))
    t.strictSame(missing, [], `${app} is given all that it knows`)
  }
})

t.test('docker-compose.yml leaves a worker free to be many', async (t) => {
  const { worker, api } = compose.services
  t.notOk('container_name' in (worker ?? {}) || 'ports' in (worker ?? {}))
  t.notOk('container_name' in (api ?? {}))
})

t.test('docker-compose.yml gives the console and its links the same secret and address', async (t) => {
  const { api, console } = compose.services
  for (const name of Object.keys(consoleSettings))
    t.equal(api?.environment?.[name], console?.environment?.[name], name)
  t.match(console?.environment?.CONSOLE_URL, '${CONSOLE_PORT:-3003}', 'the address has the port of the host')
})
