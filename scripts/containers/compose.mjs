import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const project = `automation-check-${process.pid}`

/** What is passed on to docker: how it finds its engine, and the images. Settings of the product come from the check alone. */
const passedOn =
  /^(PATH|HOME|TMPDIR|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|DOCKER_.*|BUILD.*|.*_IMAGE|(HTTPS?|NO)_PROXY|https?_proxy|no_proxy)$/
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name))),
  // Bake would ask a person before it builds in the network of the host (BUILD_NETWORK).
  COMPOSE_BAKE: 'false',
}

/** @returns why there is no engine to be used, or undefined */
export async function findEngineFault() {
  for (const args of [['version'], ['compose', 'version']]) {
    const { code, error } = await run('docker', args)
    if (code !== 0) return `docker ${args.join(' ')}: ${error.trim().split('\n').at(-1)}`
  }
  return undefined
}

/** A project of its own beside whatever else runs on the engine: name, image, volumes, ports and secrets. */
export class Project {
  settings
  #directory = mkdtempSync(join(tmpdir(), 'automation-check-'))
  /** On this machine. */
  backups = join(this.#directory, 'backups')
  #followers = []

  constructor(settings) {
    mkdirSync(this.backups)
    this.settings = { IMAGE: project, BACKUPS: this.backups, ...settings }
  }

  /** Runs docker compose. @returns its standard output @throws with what it printed */
  async compose(...args) {
    const { code, output, error } = await this.tryCompose(...args)
    if (code !== 0)
      throw new Error(`docker compose ${args.join(' ')} exited with ${code}:\n${error.slice(-4_000)}`)
    return output
  }

  tryCompose(...args) {
    return run('docker', this.#arguments(args))
  }

  /** The JSON that the command line of the product prints in the container of an API. */
  async admin(...args) {
    const program = ['exec', '-T', 'api', 'node', 'apps/cli/run.mjs', 'admin']
    for (let attempt = 1; ; attempt++) {
      const { code, output, error } = await this.tryCompose(...program, ...args, '--json')
      if (code === 0) return JSON.parse(output)
      // On a busy machine a connection may take longer than the 2 s that the command line waits.
      if (attempt === 3 || !error.includes('Cannot connect to Postgres'))
        throw new Error(`admin ${args.join(' ')} exited with ${code}:\n${error}`)
    }
  }

  /** Collects the lines that docker prints until the end of the check. */
  follow(...args) {
    const lines = []
    const docker = spawn('docker', args[0] === 'compose' ? this.#arguments(args.slice(1)) : args, {
      env: environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let rest = ''
    docker.stdout.setEncoding('utf8').on('data', (text) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop()
      lines.push(...parts)
    })
    docker.on('error', () => {})
    this.#followers.push(docker)
    return lines
  }

  /** Collects the exits of containers, as JSON with service and exit code. */
  followExits() {
    const label = `label=com.docker.compose.project=${project}`
    return this.follow(
      'events',
      '--filter',
      label,
      '--filter',
      'event=die',
      '--format',
      '{{json .Actor.Attributes}}',
    )
  }

  async remove() {
    await this.tryCompose('--profile', 'admin', 'down', '--volumes', '--remove-orphans', '--timeout', '10')
    await run('docker', ['image', 'rm', '--force', project, `${project}-backup`])
    for (const follower of this.#followers) follower.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #arguments(args) {
    const file = join(this.#directory, '.env')
    writeFileSync(
      file,
      Object.entries(this.settings)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
      { mode: 0o600 },
    )
    return ['compose', '--project-name', project, '--project-directory', root, '--env-file', file, ...args]
  }
}

export const newSecret = () => randomBytes(32).toString('base64')

export function findFreePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    const texts = { output: '', error: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => {
      texts.output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      texts.error += text
    })
    child.once('error', ({ message }) => resolve({ code: 1, output: '', error: message }))
    child.once('close', (code) => resolve({ code: code ?? 1, ...texts }))
  })
}
