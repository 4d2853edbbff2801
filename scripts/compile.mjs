// Compiles some rooms and what they import, and nothing else:
//
//   node scripts/compile.mjs apps/api packages/engine
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await compile(process.argv.slice(2))

/** @returns an exit code */
export async function compile(rooms) {
  const generated = isClientStale() ? await run('prisma', ['generate', '--config', 'prisma.config.ts']) : 0
  return generated || (await run('tsc', ['-b', ...new Set(rooms)]))
}

/** Prisma's client is generated from the schema, and most rooms compile against it. */
function isClientStale() {
  const client = `${root}packages/database/src/generated/client.ts`
  return !existsSync(client) || statSync(client).mtimeMs < statSync(`${root}prisma/schema.prisma`).mtimeMs
}

async function run(program, args) {
  const child = spawn(`${root}node_modules/.bin/${program}`, args, { stdio: 'inherit', cwd: root })
  const [exitCode] = await once(child, 'exit')
  return exitCode ?? 1
}
