import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Migration } from '@automation/database'
import { CommandError } from '../command-error.js'

/** What a backup says about itself. It is the last line of its file: pg_restore reads what stands before it, and nothing else. */
export interface BackupNote {
  automationBackup: 1
  /** Version of the program that made it. */
  program: string
  takenAt: string
  /** Version of Postgres. */
  server: string
  events: number
  migrations: Pick<Migration, 'name' | 'checksum'>[]
  /** Of the dump, without this line. */
  bytes: number
  sha256: string
}

const longestNote = 65_536

/** Adds the note, and has it on the disk with all that stands before. */
export async function appendNote(
  file: string,
  about: Omit<BackupNote, 'automationBackup' | 'bytes' | 'sha256'>,
): Promise<BackupNote> {
  const handle = await open(file, 'a')
  try {
    const { size } = await handle.stat()
    const note = { automationBackup: 1, ...about, bytes: size, sha256: await digest(file, size) } as const
    await handle.write(`\n${JSON.stringify(note)}\n`)
    await handle.sync()
    return note
  } finally {
    await handle.close()
  }
}

/** @throws CommandError if the file is missing, not whole, changed, or no backup */
export async function readBackup(file: string): Promise<BackupNote> {
  const handle = await open(file, 'r').catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}.`, { cause: error })
  })
  try {
    const note = await readNote(handle, file)
    if (note.sha256 === (await digest(file, note.bytes))) return note
    throw new CommandError(`${file} is damaged: its bytes are not those of the backup. Use another copy.`)
  } finally {
    await handle.close()
  }
}

async function readNote(handle: FileHandle, file: string): Promise<BackupNote> {
  const { size } = await handle.stat()
  if (size === 0) throw new CommandError(`${file} is empty: it is no backup.`)
  const length = Math.min(size, longestNote)
  const { buffer } = await handle.read({ buffer: Buffer.alloc(length), position: size - length })
  const tail = buffer.toString('latin1')
  const start = tail.lastIndexOf('\n', tail.length - 2) + 1
  const note = parse(buffer.subarray(start).toString())
  if (note?.bytes === size - length + start - 1) return note
  throw new CommandError(
    `${file} is not a whole backup of npm run admin -- backup: its last line is missing. A dump of pg_dump is restored by hand: docs/operate/backup.md.`,
  )
}

function parse(line: string): BackupNote | undefined {
  try {
    const note = JSON.parse(line) as BackupNote
    return note.automationBackup === 1 ? note : undefined
  } catch {
    return undefined
  }
}

async function digest(file: string, bytes: number): Promise<string> {
  const hash = createHash('sha256')
  if (bytes > 0)
    for await (const part of createReadStream(file, { end: bytes - 1 })) hash.update(part as Buffer)
  return hash.digest('hex')
}
