/** The documents for authors of rules, which /docs serves beside the reference. */
export const textPages = ['rules', 'recipes', 'signing'] as const
/** Where they stand in docs/. */
export const pageFiles: Record<(typeof textPages)[number], string> = {
  rules: 'reference/rules.md',
  recipes: 'guides/recipes.md',
  signing: 'reference/signing.md',
}
/** The reference: a page, its script, and the document in two formats. */
export const referencePaths = [
  '/docs/',
  '/docs/openapi.json',
  '/docs/openapi.yaml',
  '/docs/js/scalar.js',
] as const
/** The schema of files of rules, which editors read. */
export const schemaPath = '/docs/rules.schema.json'
export const docsPaths = [
  ...referencePaths,
  schemaPath,
  ...textPages.map((name) => `/docs/${name}` as const),
] as const
export type DocsPath = (typeof docsPaths)[number]

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
