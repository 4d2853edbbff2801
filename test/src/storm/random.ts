/** Numbers that look random, and come again with their seed. */
export interface Random {
  /** From 0 up to 1. */
  draw(): number
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  /** True so many times out of 1. */
  chance(share: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

/** @param stream separates values that must not depend on each other's order, such as the events of a load */
export function createRandom(seed: number, stream = 0): Random {
  let state = mix(Math.imul(seed, 0x9e3779b1) ^ mix(stream + 1))

  function draw(): number {
    state = (state + 0x6d2b79f5) | 0
    return mix(state) / 2 ** 32
  }

  return {
    draw,
    between: (least, most) => least + Math.floor(draw() * (most - least + 1)),
    chance: (share) => draw() < share,
    pick: (items) => items[Math.floor(draw() * items.length)] as (typeof items)[number],
  }
}

export function shuffle<Item>(items: Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, place: random.draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Spreads a change of any bit over all 32 of them. */
function mix(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
