import type { Backtest, BacktestPage, BacktestToCreate, ListedBacktest } from './api.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import { preferring } from './run.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

type BacktestQuery = NonNullable<Inputs<'GET /api/automation-rules/backtests'>['query']>

/** What rules would have done for past events. */
export class Backtests {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** @param options `wait`: how many seconds (at most 30) the service waits for its end; otherwise it runs on */
  create(
    body: BacktestToCreate,
    { wait = 0, ...options }: KeyedOptions & { wait?: number } = {},
  ): Promise<Backtest> {
    const waiting = preferring({ ...options, wait })
    return this.#sender.ask('POST /api/automation-rules/backtests', { body }, waiting)
  }

  /** Newest first, without reports. */
  list(query: BacktestQuery = {}, options?: RequestOptions): Pages<ListedBacktest, BacktestPage> {
    return this.#sender.list('GET /api/automation-rules/backtests', 'backtests', { query }, options)
  }

  /** Its progress, and the report so far. */
  get(id: string, options?: RequestOptions): Promise<Backtest> {
    return this.#sender.ask('GET /api/automation-rules/backtests/{id}', { path: { id } }, options)
  }

  cancel(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/automation-rules/backtests/{id}', { path: { id } }, options)
  }
}
