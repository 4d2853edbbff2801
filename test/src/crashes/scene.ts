import type { Test } from 'tap'
import {
  prepareCalls,
  type ReachingProduct,
  startProductWithTargets,
} from '../fixtures/product-with-targets.js'
import type { Call } from '../fixtures/targets.js'

/** Processes that die, and what holds all the same. */
export interface Scenario {
  title: string
  run(t: Test, scene: Scene): Promise<void>
}

/** What a scenario has for itself: a workspace of the product that all share, the calls of its rules, and the workers that it starts. */
export interface Scene extends ReachingProduct {
  /** Answers a call of a rule. All calls succeed unless a scenario sets it. */
  isFine: (call: Call) => boolean | Promise<boolean>
}

/** @returns what runs a scenario in a scene of its own; one at a time */
export async function openStage(t: Test): Promise<(t: Test, scenario: Scenario) => Promise<void>> {
  let isFine: Scene['isFine'] = () => true
  const running = await startProductWithTargets({ workers: 0, isFine: (call) => isFine(call) })
  t.teardown(() => running.stop())
  const { product, targets } = running

  return async (t, { run }) => {
    const tenant = await running.addWorkspace()
    await prepareCalls(running, tenant)
    targets.calls.length = 0
    const scene: Scene = { ...running, ...tenant, isFine: () => true }
    isFine = (call) => scene.isFine(call)
    t.teardown(() => Promise.all(product.workers.map((worker) => worker.stop())))
    await run(t, scene)
  }
}
