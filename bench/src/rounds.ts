/**
 * The order of a round: forwards in odd rounds, backwards in even ones (ABBA). So each of two neighbours is as often first, and a
 * machine that becomes steadily slower slows both alike.
 */
export function orderOfRound<Item>(items: Item[], round: number): Item[] {
  return round % 2 === 1 ? items : items.toReversed()
}

/** Measures all items in each round. The results of an item are in the order of the rounds. */
export async function takeTurns<Item, Figures>(
  items: Item[],
  rounds: number,
  measure: (item: Item, round: number) => Promise<Figures>,
): Promise<Map<Item, Figures[]>> {
  const results = new Map<Item, Figures[]>(items.map((item) => [item, []]))
  for (let round = 1; round <= rounds; round++)
    for (const item of orderOfRound(items, round)) results.get(item)?.push(await measure(item, round))
  return results
}
