/** Whether this is built for a frame in another product (pages/embed). What only one of both needs is not in the files of the other. */
declare const inFrame: boolean

declare module '*.css'
declare module '*.svg' {
  /** Its address. */
  const url: string
  export default url
}

declare module 'schema:*' {
  const schema: import('./parts/schema-form.js').FormSchema
  export default schema
}
