import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'

/** The tests of the code that reads or writes times. */
const files = ['template', 'operators', 'run', 'progress']

// One zone on each side of UTC, with offsets that are not whole hours. The long run has the second one, too.
const zones = { 'Asia/Kathmandu': -345, ...(process.env.TEST_LONG && { 'America/St_Johns': 210 }) }

for (const [zone, offset] of Object.entries(zones)) {
  t.test(`times are the same in ${zone} as in UTC`, async (t) => {
    const imports = files.map((file) => `await import('${new URL(`./${file}.test.js`, import.meta.url)}')`)
    const script = ['console.log(`# ${new Date(Date.UTC(2026, 0)).getTimezoneOffset()}`)', ...imports]
    const child = spawn(process.execPath, ['--input-type=module', '-e', script.join('\n')], {
      env: { ...process.env, TZ: zone },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    t.ok(output.startsWith(`# ${offset}\n`), 'the zone is known on this machine')
    t.ok(Number(/^1\.\.(\d+)$/m.exec(output)?.[1]) >= 20, 'the tests have run')
    t.strictSame(output.match(/^ *not ok .*$/gm), null)
    t.equal(code, 0)
  })
}
