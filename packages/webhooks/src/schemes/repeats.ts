const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** The duration of `repeatsFor` (ms); undefined: it is none. */
export function readRepeatsMs(text: string): number | undefined {
  if (text === '0') return 0
  const [, count, unit] = /^(\d{1,7})([smhdw])$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs]
}
