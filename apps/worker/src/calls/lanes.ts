import { ownerOf } from '@automation/admission'

/** The calls of a workspace to one destination. A `Waiter` is a call that waits for a slot. */
export interface Lane<Waiter> {
  readonly workspace: Workspace<Waiter>
  readonly destination: string
  inFlight: number
  /** In the order of their arrival. */
  readonly waiters: Set<Waiter>
}

interface Workspace<Waiter> {
  readonly id: string
  readonly owner: Owner<Waiter>
  inFlight: number
  waiting: number
  readonly lanes: Map<string, Lane<Waiter>>
  /** The lanes that have a waiter and a slot of their own left for it; the next one first. */
  readonly ready: Set<Lane<Waiter>>
}

/** The creator of workspaces; a workspace without one is its own. */
interface Owner<Waiter> {
  readonly id: string
  inFlight: number
  waiting: number
  /** Calls in flight, by shared destination. */
  readonly shared: Map<string, number>
  readonly workspaces: Set<Workspace<Waiter>>
  /** The workspaces that have a slot left and a ready lane; the next one first. */
  readonly ready: Set<Workspace<Waiter>>
}

/** To whom a call belongs. */
export interface Caller {
  workspaceId: string
  /** null: the workspace has none. */
  createdBy: string | null
  /** What the data of its event takes in memory. All calls of the event share it, and are of one caller. */
  heapBytes: number
}

export interface LaneSlots {
  owner: number
  workspace: number
  lane: number
  /** Of a destination that all workspaces share, over all of its lanes. Those of one owner have half of them. */
  shared: number
}

/**
 * Creates the lanes that have calls in flight or waiting, and their turns: a round goes over the owners, within each over its
 * workspaces, and within each of these over its lanes.
 *
 * @param isShared true for a destination that all workspaces share
 */
export class Lanes<Waiter> {
  readonly #slots: LaneSlots
  readonly #isShared: (destination: string) => boolean
  readonly #workspaces = new Map<string, Workspace<Waiter>>()
  readonly #owners = new Map<string, Owner<Waiter>>()
  /** The owners that have a slot left and a ready workspace; the next one first. */
  readonly #ready = new Set<Owner<Waiter>>()
  /** Calls in flight, by shared destination. */
  readonly #shared = new Map<string, number>()

  constructor(slots: LaneSlots, isShared: (destination: string) => boolean) {
    this.#slots = slots
    this.#isShared = isShared
  }

  /** Finds or creates a lane. After each change of it, `settle` has to be called. */
  open(caller: Caller, destination: string): Lane<Waiter> {
    const workspace = this.#workspaces.get(caller.workspaceId) ?? this.#openWorkspace(caller)
    const known = workspace.lanes.get(destination)
    if (known) return known
    const lane = { workspace, destination, inFlight: 0, waiters: new Set<Waiter>() }
    workspace.lanes.set(destination, lane)
    return lane
  }

  hasSlot(lane: Lane<Waiter>): boolean {
    const { workspace } = lane
    return (
      this.#isLaneFree(lane) &&
      this.#isWorkspaceFree(workspace) &&
      this.#isOwnerFree(workspace.owner) &&
      !this.#isTaken(lane)
    )
  }

  /** Notes that a call of a lane has begun or ended. */
  countInFlight(lane: Lane<Waiter>, change: 1 | -1): void {
    const { destination, workspace } = lane
    lane.inFlight += change
    workspace.inFlight += change
    workspace.owner.inFlight += change
    if (!this.#isShared(destination)) return
    for (const counts of [this.#shared, workspace.owner.shared])
      counts.set(destination, (counts.get(destination) ?? 0) + change)
  }

  addWaiter({ waiters, workspace }: Lane<Waiter>, waiter: Waiter): void {
    waiters.add(waiter)
    workspace.waiting += 1
    workspace.owner.waiting += 1
  }

  removeWaiter({ waiters, workspace }: Lane<Waiter>, waiter: Waiter): void {
    waiters.delete(waiter)
    workspace.waiting -= 1
    workspace.owner.waiting -= 1
  }

  /** @returns the lane whose turn it is, undefined where none is ready. `settle` puts it at the end of all rounds. */
  takeNext(): Lane<Waiter> | undefined {
    for (const owner of this.#ready) {
      for (const workspace of owner.ready) {
        for (const lane of workspace.ready) {
          if (this.#isTaken(lane)) continue
          this.#ready.delete(owner)
          owner.ready.delete(workspace)
          workspace.ready.delete(lane)
          return lane
        }
      }
    }
    return undefined
  }

  /** Updates whether a lane, its workspace and its owner are ready, and removes those that are empty. */
  settle(lane: Lane<Waiter>): void {
    const { workspace } = lane
    const { owner } = workspace
    keep(workspace.ready, lane, lane.waiters.size > 0 && this.#isLaneFree(lane))
    keep(owner.ready, workspace, workspace.ready.size > 0 && this.#isWorkspaceFree(workspace))
    keep(this.#ready, owner, owner.ready.size > 0 && this.#isOwnerFree(owner))
    if (lane.inFlight > 0 || lane.waiters.size > 0) return
    workspace.lanes.delete(lane.destination)
    if (workspace.lanes.size > 0) return
    this.#workspaces.delete(workspace.id)
    owner.workspaces.delete(workspace)
    if (owner.workspaces.size === 0) this.#owners.delete(owner.id)
  }

  #isLaneFree({ inFlight, destination }: Lane<Waiter>): boolean {
    return this.#isShared(destination) || inFlight < this.#slots.lane
  }

  #isWorkspaceFree({ inFlight }: Workspace<Waiter>): boolean {
    return inFlight < this.#slots.workspace
  }

  #isOwnerFree({ inFlight }: Owner<Waiter>): boolean {
    return inFlight < this.#slots.owner
  }

  /** True for a shared destination whose slots are all taken, or those of the owner: its lanes keep their turns. */
  #isTaken({ destination, workspace: { owner } }: Lane<Waiter>): boolean {
    if (!this.#isShared(destination)) return false
    const { shared } = this.#slots
    return (
      (this.#shared.get(destination) ?? 0) >= shared ||
      (owner.shared.get(destination) ?? 0) >= Math.ceil(shared / 2)
    )
  }

  #openWorkspace(caller: Caller): Workspace<Waiter> {
    const { workspaceId: id } = caller
    const owner = this.#openOwner(ownerOf(caller))
    const workspace = { id, owner, inFlight: 0, waiting: 0, lanes: new Map(), ready: new Set<Lane<Waiter>>() }
    this.#workspaces.set(id, workspace)
    owner.workspaces.add(workspace)
    return workspace
  }

  #openOwner(id: string): Owner<Waiter> {
    const known = this.#owners.get(id)
    if (known) return known
    const sets = { workspaces: new Set<Workspace<Waiter>>(), ready: new Set<Workspace<Waiter>>() }
    const owner = { id, inFlight: 0, waiting: 0, shared: new Map<string, number>(), ...sets }
    this.#owners.set(id, owner)
    return owner
  }
}

/** Who is in a set already keeps its turn. */
function keep<Item>(set: Set<Item>, item: Item, isIn: boolean): void {
  if (isIn) set.add(item)
  else set.delete(item)
}
