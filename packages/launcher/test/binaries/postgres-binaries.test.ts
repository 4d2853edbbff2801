import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { findUsable } from '../../src/binaries/postgres-binaries.js'
import { findServerUser } from '../../src/binaries/server-user.js'

/** A directory that stands in for the one of Postgres. */
async function makeNative(t: Test, name: string): Promise<string> {
  const native = `${t.testdir()}/${name}/native`
  await mkdir(`${native}/bin`, { recursive: true })
  await writeFile(`${native}/bin/postgres`, 'postgres')
  await chmod(native, 0o755)
  return native
}

const user = await findServerUser()

t.test('Postgres stays in a path with spaces and letters of any language', async (t) => {
  const native = await makeNative(t, "Zoë's (1)")
  t.equal(await findUsable(native, undefined), native)
})

t.test(
  'for root, Postgres is copied out of a directory that its user cannot enter',
  { skip: user === undefined ? 'only for root' : false },
  async (t) => {
    const native = await makeNative(t, 'closed')
    await chmod(dirname(native), 0o700)
    const copy = await findUsable(native, user)
    t.teardown(() => rm(dirname(copy), { recursive: true }))
    t.match(copy, /^\/var\/lib\/automation-rules\/[0-9a-f]{16}\/native$/)
    t.equal(await readFile(`${copy}/bin/postgres`, 'utf8'), 'postgres')
  },
)
