import { execFile } from 'node:child_process'
import fs, { openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { LogWriter } from '../../src/telemetry/log-writer.js'

const run = promisify(execFile)
const telemetry = new URL('../../src/telemetry/index.js', import.meta.url).href
const read = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

t.test('what cannot be written is kept up to 1 MiB, and one line says what is lost', (t) => {
  const path = `${t.testdir()}/log`
  const writer = new LogWriter('api', openSync(path, 'w'))
  const { writeSync } = fs
  fs.writeSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const line = (n: number) => `${JSON.stringify({ n, text: 'x'.repeat(1_000) })}\n`
  for (let n = 0; n < 1_100; n++) writer.write(line(n))
  fs.writeSync = writeSync
  writer.write(line(-1))
  writer.write(line(-2))
  const lines = read(readFileSync(path, 'utf8'))
  const kept = Math.floor(1_048_576 / line(100).length)
  const [gap, last] = lines.slice(-2)
  t.match(gap, {
    level: 40,
    name: 'api',
    msg: /^the log could not be written \(ENOSPC\): \d+ lines are lost$/,
  })
  t.match(last, { n: -2 })
  t.strictSame(
    lines.slice(0, -2).map(({ n }) => n),
    Array.from({ length: lines.length - 2 }, (_, n) => n),
    'in their order',
  )
  t.ok(Math.abs(lines.length - kept) < 10, `${lines.length} of ${kept} lines`)
  t.end()
})

t.test('a reader that stands still holds the process up for a moment, once', (t) => {
  const path = `${t.testdir()}/log`
  const writer = new LogWriter('api', openSync(path, 'w'))
  const { writeSync } = fs
  let tries = 0
  fs.writeSync = () => {
    tries++
    throw Object.assign(new Error('EAGAIN: resource temporarily unavailable, write'), { code: 'EAGAIN' })
  }
  for (let n = 0; n < 100; n++) writer.write(`{"n":${n}}\n`)
  fs.writeSync = writeSync
  t.equal(tries, 11 + 99)
  writer.write('{"n":100}\n')
  const lines = read(readFileSync(path, 'utf8'))
  t.equal(lines.length, 102)
  t.match(lines.at(-1), { msg: 'the log could not be written (EAGAIN): 0 lines are lost' })
  t.end()
})

t.test('a full disk and a reader that has ended end no process', async (t) => {
  const program = `
    const { logOptions } = await import('${telemetry}')
    const { stream } = logOptions('api', 'info')
    for (let n = 0; n < 100; n++) { stream.write('{}\\n'); await new Promise((resolve) => setTimeout(resolve, 1)) }
    process.stderr.write('served on')`
  for (const into of ['> /dev/full', '| head -1']) {
    const shell = `"${process.execPath}" --input-type=module -e "$PROGRAM" ${into}`
    const { stderr } = await run('sh', ['-c', shell], { env: { ...process.env, PROGRAM: program } })
    t.equal(stderr, 'served on', into)
  }
})

t.test('what libraries and Node write becomes lines of the log', async (t) => {
  const program = `
    const { logLibraries } = await import('${telemetry}')
    logLibraries('worker', 'info')
    console.warn('IMPORTANT! Eviction policy is %s.', 'volatile-lru')
    console.error(new Error('redis://:secret@host is unavailable'))
    process.emitWarning('Possible leak', 'MaxListenersExceededWarning')`
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', program])
  t.equal(stderr, '')
  t.match(read(stdout), [
    { level: 40, name: 'worker', msg: 'IMPORTANT! Eviction policy is volatile-lru.' },
    { level: 50, name: 'worker', msg: /^Error: redis:\/\/:\[hidden\]@host is unavailable\n/ },
    { level: 40, name: 'worker', msg: 'Possible leak', err: { name: 'MaxListenersExceededWarning' } },
  ])
})
