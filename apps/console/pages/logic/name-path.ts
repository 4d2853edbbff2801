/** The words for a place in a rule: `condition 1, part 2` for `conditions[0].any[1]`. */
export function namePath(path: string): string {
  const condition = /^conditions\[(\d+)\](.*)$/.exec(path)
  if (condition) {
    const parts = [...(condition[2] ?? '').matchAll(/\[(\d+)\]/g)].map(
      ([, index]) => `, part ${Number(index) + 1}`,
    )
    return `condition ${Number(condition[1]) + 1}${parts.join('')}`
  }
  const action = /^actions\[(\d+)\](?:\.config)?(?:\.(.*))?$/.exec(path)
  if (action) return `action ${Number(action[1]) + 1}${action[2] ? `, ${action[2]}` : ''}`
  return path === 'conditions' || path === '' ? 'the conditions' : path
}
