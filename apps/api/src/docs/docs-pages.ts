/** All that /docs serves, by its path. */
export interface Docs {
  pages: Record<string, DocsPage>
  /** What is served, with 404, where there is no such page. */
  missing: DocsPage
}

/** A response of /docs: the same for everybody. */
export interface DocsPage {
  plain: Representation
  /** Compressed once, when the page is rendered. */
  gzip: Representation
}

interface Representation {
  body: Buffer
  headers: Record<string, string>
}

/** So short that a new version is seen soon, and long enough for a person who reads. */
export const cachingHeaders = { 'cache-control': 'public, max-age=300' }

/** Messages of the product print these addresses. Browsers keep the anchor. */
export const shortAddresses: Record<string, string> = { '/docs/rules': '/docs/reference/rules' }
