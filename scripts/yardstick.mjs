// A fixed loop of about half a second. It prints the seconds of CPU that it has used: one unit, in which a test run measures its files
// (scripts/cpu-budget.mjs), so that figures of one machine can be compared with those of another.
const rounds = 24
const names = Array.from({ length: 2_000 }, (_, index) => `field-${(index * 7_919) % 2_000}`)

let sum = 0
for (let round = 0; round < rounds; round++) {
  const record = Object.fromEntries(names.map((name, index) => [name, { index, tags: [name, round] }]))
  const copy = JSON.parse(JSON.stringify(record))
  const counts = new Map()
  for (const name of Object.keys(copy).sort()) {
    const key = name.replace(/\d$/, '')
    counts.set(key, (counts.get(key) ?? 0) + copy[name].index)
  }
  for (const count of counts.values())
    for (let step = 0; step < 4_000; step++) sum = (sum * 31 + count + step) | 0
}
const { user, system } = process.cpuUsage()
console.log(`${(user + system) / 1_000_000} ${sum}`)
