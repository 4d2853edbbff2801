import { randomInt } from 'node:crypto'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { faultKinds } from './faults.js'

export interface Options {
  seed: number
  events: number
  faults: number
  /** Requests a minute of the workspace that attacks; 0 for none. */
  hostile: number
  /** How many tags the longest lists have: an event is emitted for each. */
  longest: number
  /** How many events are explained in the end, and compared with what happened; undefined for all. */
  explained: number | undefined
  /** The kinds of faults, by their names; all where it is empty. */
  only: string[]
  /** Races of events with WAITs, instead of all else. */
  waits: boolean
  /** Events of a few keys, for rules with `perKey`, instead of all else. */
  memory: boolean
  /** Prints each fault when it occurs. */
  verbose: boolean
  /** Directory that takes the logs of all processes. */
  logs: string | undefined
}

const short = { events: 20_000, faults: 150, explained: 1_000 }
/** The default rate limit of a caller, with its burst. */
const hostilePerMinute = 60
const defaultLongest = 60
const waits = { events: 2_000, faults: 20, explained: undefined }
const memory = { events: 6_000, faults: 20, explained: undefined }
const long = { events: 200_000, faults: 1_000, explained: undefined }

export const usage = `npm run storm -- [--seed N] [--long] [--events N] [--faults N] [--hostile N]
                 [--longest N] [--only KIND] [--waits | --memory] [--verbose] [--logs DIR]
npm run storm -- --schedules [--seed N] [--small | --long]

  --seed     the same faults in the same order, and the same events; any other one where it is not named
  --long     ${long.events} events and ${long.faults} faults instead of ${short.events} and ${short.faults}
  --hostile  requests a minute of the workspace that attacks, ${hostilePerMinute} by default; 0 for none
  --longest  items of the longest lists, ${defaultLongest} by default: an event is emitted for each
  --waits    events that race with the registration and the deadline of WAITs instead, ${waits.events} races and ${waits.faults} faults
  --memory   events of a few keys for rules with perKey instead, ${memory.events} events and ${memory.faults} faults
  --only     faults of this kind alone, such as "mute line"; may come more than once
  --verbose  prints each fault when it occurs
  --logs     keeps there what all the processes have said`

/** @throws Error that says which argument does not fit */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string' },
      long: { type: 'boolean', default: false },
      events: { type: 'string' },
      faults: { type: 'string' },
      hostile: { type: 'string' },
      longest: { type: 'string' },
      only: { type: 'string', multiple: true, default: [] },
      waits: { type: 'boolean', default: false },
      memory: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      logs: { type: 'string' },
    },
  })
  for (const name of values.only)
    if (faultKinds.every((kind) => kind.name !== name))
      throw new Error(`--only ${name} is none of ${faultKinds.map((kind) => kind.name).join(', ')}`)
  const shorter = values.waits ? waits : values.memory ? memory : short
  const form = values.long ? long : shorter
  return {
    seed: readCount('seed', values.seed, randomInt(1, 1_000_000)),
    events: readCount('events', values.events, form.events),
    faults: readCount('faults', values.faults, form.faults),
    hostile: readCount('hostile', values.hostile, hostilePerMinute, 0),
    longest: readCount('longest', values.longest, defaultLongest),
    explained: form.explained,
    only: values.only,
    waits: values.waits,
    memory: values.memory,
    verbose: values.verbose,
    logs: values.logs === undefined ? undefined : resolve(values.logs),
  }
}

function readCount(name: string, text: string | undefined, fallback: number, least = 1): number {
  const count = text === undefined ? fallback : Number(text)
  if (!(Number.isInteger(count) && count >= least))
    throw new Error(`--${name} ${text} has to be a whole number, ${least} or more`)
  return count
}
