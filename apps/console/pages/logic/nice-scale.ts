/** The end of an axis: a round number at or above the greatest value, so that its half is a round one, too. */
export function findNiceEnd(most: number, least: number): number {
  const wanted = Math.max(most, least)
  const power = 10 ** Math.floor(Math.log10(wanted))
  return power * ([1, 2, 4, 6, 8, 10].find((step) => wanted <= step * power * 1.000001) ?? 10)
}

/** The slices at which a quarter of the time begins. */
export function findQuarters(slices: number): number[] {
  return [0, 1, 2, 3].map((quarter) => Math.round((slices * quarter) / 4))
}
