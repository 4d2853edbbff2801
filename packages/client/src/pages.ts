import { ApiError } from './api-error.js'

/**
 * A list of the API. `await` gives its first page. Iteration gives every item and reads each page when it is needed.
 */
export class Pages<Item, Page extends object> implements Promise<Page>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'Pages'
  readonly #read: (cursor: { cursor?: string }) => Promise<Page>
  readonly #itemsOf: (page: Page) => Item[]

  /** @param read gets the cursor of the previous page, if there was one */
  constructor(read: (cursor: { cursor?: string }) => Promise<Page>, itemsOf: (page: Page) => Item[]) {
    this.#itemsOf = itemsOf
    this.#read = async (cursor) => {
      const page = await read(cursor)
      if (!Array.isArray(itemsOf(page)))
        throw new ApiError('The page has no items: not the API answered', 200)
      return page
    }
  }

  /** All items in one array, which may be large. */
  async all(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  /** @throws ApiError if a page names a cursor a second time: the list would have no end */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const read = new Set<string>()
    let page = await this.#read({})
    yield* this.#itemsOf(page)
    // With a filter, a page may be short or empty without being the last one.
    for (let cursor = nextOf(page); cursor; cursor = nextOf(page)) {
      if (read.has(cursor)) throw new ApiError(`The list repeats the cursor ${cursor}`, 200)
      read.add(cursor)
      page = await this.#read({ cursor })
      yield* this.#itemsOf(page)
    }
  }

  then<Result = Page, Failure = never>(
    onPage?: ((page: Page) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#read({}).then(onPage, onError)
  }

  catch<Failure = never>(
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Page | Failure> {
    return this.#read({}).catch(onError)
  }

  finally(onEnd?: (() => void) | null): Promise<Page> {
    return this.#read({}).finally(onEnd)
  }
}

function nextOf(page: { nextCursor?: string | null }): string | null | undefined {
  return page.nextCursor
}
