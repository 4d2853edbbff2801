import type { PerKey } from './describe-per-key.js'
import type { LooseAction } from './kept-configs.js'

type Config = LooseAction['config']

/** The config with another field. What cannot stand beside it makes room: a WAIT has one way to end. */
export function addField({ type, config }: LooseAction, name: string, value: unknown): Config {
  if (type !== 'WAIT') return { ...config, [name]: value }
  const { duration, until, offset, decision, ...others } = config
  if (name === 'decision') return { decision: { ...(value as Config), within: duration ?? '' } }
  if (name === 'duration') return { duration: (decision as Config | undefined)?.within ?? value, ...others }
  if (name === 'until' || name === 'offset')
    return {
      until: '',
      ...(offset !== undefined && { offset }),
      ...(until !== undefined && { until }),
      ...others,
      [name]: value,
    }
  const isTimed = duration !== undefined || until !== undefined
  return { ...(isTimed ? { ...config } : { duration: '', ...others }), [name]: value }
}

/** A limit with another part: what collects has no other limit than one at a time, and the other way round. */
export function replaceLimit(before: PerKey, next: PerKey): PerKey {
  const added = Object.keys(next).find((name) => !(name in before))
  const { collect, atMost: _, atLeast: _atLeast, whileRunning, ...others } = next
  if (collect === undefined || added === undefined || added === 'key') return next
  if (added === 'whileRunning') return { ...next, whileRunning: 'queue' }
  if (added === 'collect') return { ...others, collect, ...(whileRunning === 'queue' && { whileRunning }) }
  const { collect: _collect, ...rest } = next
  return rest
}
