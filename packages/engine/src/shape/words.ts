const types: Record<string, string> = {
  array: 'a list',
  object: 'an object',
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
}

export function describeTypes(names: readonly string[]): string {
  return names.map((name) => types[name] ?? name).join(' or ')
}

const plurals = { character: 'characters', item: 'items', property: 'properties' }
export type Counted = keyof typeof plurals

export function haveAt(bound: 'least' | 'most', count: number, what: Counted): string {
  return `have at ${bound} ${count} ${count === 1 ? what : plurals[what]}`
}
