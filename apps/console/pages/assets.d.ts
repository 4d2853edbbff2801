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
