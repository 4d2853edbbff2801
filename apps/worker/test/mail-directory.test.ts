import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openDirectory } from '../src/effects/mail-transports.js'

t.test('a mail that cannot be written leaves nothing behind', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'mail-'))
  t.teardown(() => rm(directory, { recursive: true }))
  // A file cannot take the name of a directory that is in use.
  await mkdir(join(directory, 'first.eml'))
  await writeFile(join(directory, 'first.eml', 'file'), '')
  const { deliver } = openDirectory(directory)
  await t.rejects(deliver({ messageId: '<first@example.com>', text: 'Hello' }, 1_000))
  await deliver({ messageId: '<second@example.com>', text: 'Hello' }, 1_000)
  t.strictSame((await readdir(directory)).sort(), ['first.eml', 'second.eml'])
})
