/** `< 1 ms`, `41 ms`, `3.2 s`, `5 min`, `19 h`, `3 d`. */
export function formatDuration(ms: number): string {
  if (ms < 0.5) return '< 1 ms'
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${Number((ms / 1_000).toFixed(1))} s`
  if (ms < 3_570_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}
