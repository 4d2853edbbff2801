import type { Site } from './site.js'

interface Ledger {
  from: string
  isComplete: boolean
  faults: { kind: string; count: number; ids: string[] }[]
}

/** Whether the product itself finds its books in balance: the whole of each workspace, piece by piece. */
export async function checkLedger({
  running,
  workspaces,
  hostile,
  once,
  switched,
  token,
}: Site): Promise<string[]> {
  const api = await running.product.startApi()
  const violations: string[] = []
  for (const { id } of [...workspaces, hostile, once, switched]) {
    const from = new Date(Date.now() - 86_400_000).toISOString()
    let query = `from=${from}`
    for (let isComplete = false; !isComplete; ) {
      const response = await fetch(`${api.baseUrl}/api/developer/v1/ledger?${query}`, {
        headers: { authorization: `Bearer ${token}`, 'x-workspace-id': id },
      })
      if (!response.ok) return [`the ledger of ${id} is answered with ${response.status}`]
      const ledger = (await response.json()) as Ledger
      for (const { kind, count, ids } of ledger.faults)
        violations.push(`the ledger of ${id}: ${count} × ${kind} (${ids.join(', ')})`)
      isComplete = ledger.isComplete
      query = `from=${from}&to=${ledger.from}`
    }
  }
  await api.stop()
  return violations
}
