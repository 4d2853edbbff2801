export interface SimulatedEvent {
  readonly type: string
  /** Epoch ms. */
  readonly at: number
  readonly data: object
  /** Of a tick: the name of its rule. */
  readonly for?: string | undefined
}
