import { type Figures, Table } from './table.js'

/**
 * The order of a round: forwards in odd rounds, backwards in even ones (ABBA). So each of two neighbours is as often first, and a
 * machine that becomes steadily slower slows both alike.
 */
export function orderOfRound<Item>(items: readonly Item[], round: number): readonly Item[] {
  return round % 2 === 1 ? items : items.toReversed()
}

/** All measurements in turn, so that other load on the machine affects them alike. */
export async function measureRounds<Measurement extends { label: string }>(
  measurements: readonly Measurement[],
  rounds: number,
  measure: (measurement: Measurement) => Promise<Figures>,
): Promise<Table> {
  const table = new Table()
  for (let round = 1; round <= rounds; round++)
    for (const measurement of orderOfRound(measurements, round))
      table.add(measurement.label, await measure(measurement))
  return table
}
