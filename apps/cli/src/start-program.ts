import { spareLoopback } from '@automation/process/settings'
import type { Command } from 'commander'
import { guardOutput } from './guard-output.js'
import { runProgram } from './program.js'

/** Runs a program as a process of its own. */
export async function startProgram(program: Command): Promise<void> {
  guardOutput()
  spareLoopback()
  await runProgram(program)
}
