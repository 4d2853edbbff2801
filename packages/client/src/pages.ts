/**
 * A list of the API. Awaited it is a page, as the API answers it; iterated over it is every item, page by page, each
 * asked for when the one before is used up.
 */
export class Pages<Item, Page extends object> implements Promise<Page>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'Pages'
  readonly #read: (cursor: { cursor?: string }) => Promise<Page>
  readonly #itemsOf: (page: Page) => Item[]

  /** @param read is given the cursor of the page before, if there was one */
  constructor(read: (cursor: { cursor?: string }) => Promise<Page>, itemsOf: (page: Page) => Item[]) {
    this.#read = read
    this.#itemsOf = itemsOf
  }

  /** Every item at once: mind how many there may be. */
  async all(): Promise<Item[]> {
    const items: Item[] = []
    for await (const item of this) items.push(item)
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page = await this.#read({})
    yield* this.#itemsOf(page)
    // A filter may leave a page short, or empty, that is not the last.
    for (let cursor = nextOf(page); cursor; cursor = nextOf(page)) {
      page = await this.#read({ cursor })
      yield* this.#itemsOf(page)
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: it is to be awaited
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
