import type { ProgramName } from './servers/programs.js'

/** One thing that goes wrong on an operator's worst day. */
export interface Disaster {
  name: string
  /** One sentence for the list. */
  about: string
  /** What has to be on the machine. */
  needs: readonly ProgramName[]
  /** It runs in a network of its own (own-network.ts). */
  hasOwnNetwork?: true
  run(stage: Stage): Promise<Outcome>
}

/** What a run has to work with. */
export interface Stage {
  seed: number
  /** How many events are to be acknowledged before, during and after the disaster. */
  events: number
  /** How long what is broken stays so; a disaster that ends by itself ignores it. */
  seconds: number
  /** Paths of the programs that it needs. */
  programs: Record<ProgramName, string>
  /** Its own, and removed in the end: for the data of the servers that it starts. */
  directory: string
  /** Takes the logs of all processes, for the search of a fault. */
  logs: string | undefined
  tell(line: string): void
}

export interface Outcome {
  /** What was measured, in the order of the table. */
  figures: Record<string, string | number>
  /** One sentence each. */
  violations: string[]
}
